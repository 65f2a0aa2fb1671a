# What one batch of a trace says about its records: the facts, without the bodies.
#
# One message of type Batch stands, zstd-compressed, in column `facts` of table `batch` (schema/trace.sql). To look at one:
#
#   sqlite3 x.trace "SELECT writefile('facts.zst', facts) FROM batch WHERE id = 1"
#   zstd -dc facts.zst | capnp convert binary:text schema/trace.capnp Batch
#
# Rules for whoever changes this file:
# - Field numbers and enum values are for ever. A new field must mean "as before" when it is 0.
# - A reader keeps going over an enum value that it does not know, as said at each enum. A change that an older reader
#   would misread (not just miss) raises kFormatVersion and kMinimumReader in schema/reader.h.
# - A writer fills every list in the order of the records, so that the same records give the same bytes.
#
# A *reference* is an index into a list of this message plus one; 0 means none. A reader must refuse a reference beyond
# its list, a list longer than schema/limits.h allows, and lists that do not add up.

@0xa8b2eb7805f4d6d4;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("inquest::trace::wire");

struct Batch {
  # --- Dictionaries: each entry once, in order of first appearance in the batch ---

  text @0 :Data;
  # All strings, one behind the other, without terminators. Bytes as they came: UTF-8 as a rule, but nobody checks.

  textSizes @1 :List(UInt32);
  # The sizes of the strings in `text`. Must add up to its size.

  keys @2 :List(Key);
  pods @3 :List(PodIdentity);
  nodes @4 :List(UInt32);
  # Names of nodes, as references to strings.

  shapes @5 :List(Shape);
  allocatables @6 :List(Allocatable);

  # --- Rows ---

  records @7 :List(Record);
  # In order of sequence numbers; the first is `batch.first_seq`.

  objectKinds @8 :Data;
  # One byte an object, an ObjectKind: in which of the lists below its facts stand. The objects of the first record come
  # first; Record.objects says how many they are. Each list is consumed in order. An unknown value stands for an object
  # without facts, which a reader hands out as "other" without a name.

  podFacts @9 :List(PodFacts);
  nodeFacts @10 :List(NodeFacts);
  eventFacts @11 :List(EventFacts);
  otherFacts @12 :List(OtherFacts);

  extras @13 :List(Extra);
  # Consumed in order by the records with `hasExtra`.

  binds @14 :List(Bind);
  # Consumed in order by the records with `hasBind`.

  observations @15 :List(Observation);
  # Consumed in order by the binds; Bind.observations says how many each has.

  # --- Dictionaries since format 2 ---

  placements @16 :List(Placement);
  labels @17 :List(Labels);
  taints @18 :List(Taints);
}

enum RecordKind {
  # A reader hands out a kind it does not know as `undecodable`, so that a run says what it could not judge.
  unknown @0;
  list @1;
  frame @2;
  bookmark @3;
  error @4;
  open @5;
  close @6;
  bindRequest @7;
  bindAnswer @8;
  gap @9;
  undecodable @10;
  source @11;
}

enum Verb {
  # A frame with a verb that a reader does not know is handed out as `undecodable`, too.
  unknown @0;
  added @1;
  modified @2;
  deleted @3;
}

enum ObjectKind {
  other @0;
  pod @1;
  node @2;
  event @3;
}

enum PodPhase {
  # Not known to the reader: unknown.
  unknown @0;
  pending @1;
  running @2;
  succeeded @3;
  failed @4;
}

enum Condition {
  # Not known to the reader: unknown.
  absent @0;
  true @1;
  false @2;
  unknown @3;
}

enum Protocol {
  # There is no safe guess: a reader refuses the batch. A new value raises kMinimumReader.
  tcp @0;
  udp @1;
  sctp @2;
}

enum SelectorOperator {
  # Not known to the reader: a requirement that no node meets.
  unknown @0;
  in @1;
  notIn @2;
  exists @3;
  doesNotExist @4;
  gt @5;
  lt @6;
}

enum TolerationOperator {
  # Not known to the reader: a toleration of nothing.
  equal @0;
  exists @1;
  gt @2;
  lt @3;
  unknown @4;
}

enum TaintEffect {
  # Not known to the reader: an effect that keeps no pod out, and a toleration of nothing.
  any @0;  # of a toleration that names none
  noSchedule @1;
  preferNoSchedule @2;
  noExecute @3;
  unknown @4;
}

struct Key {
  ns @0 :UInt32;    # string; none for objects without a namespace
  name @1 :UInt32;  # string
}

struct PodIdentity {
  key @0 :UInt32;  # key; never none
  uid @1 :UInt32;  # string
}

struct NamedAmount {
  name @0 :UInt32;  # string; never none
  amount @1 :Int64;
}

struct Resources {
  cpuMilli @0 :Int64;
  memory @1 :Int64;
  ephemeral @2 :Int64;
  extended @3 :List(NamedAmount);
  # Sorted by name, no name twice; a reader refuses anything else, because the core relies on it.
}

struct HostPort {
  ip @0 :UInt32;  # string; none means every address
  protocol @1 :Protocol;
  port @2 :UInt16;
}

struct Shape {
  requests @0 :Resources;
  nonzeroCpuMilli @1 :Int64;
  nonzeroMemory @2 :Int64;
  ports @3 :List(HostPort);
  # Sorted by ip, protocol, port; a reader refuses anything else.
}

struct Allocatable {
  resources @0 :Resources;
  pods @1 :Int64;
}

# In the five structs below a reference of 0 is the empty string.

struct Label {
  key @0 :UInt32;    # string
  value @1 :UInt32;  # string
}

struct Requirement {
  key @0 :UInt32;           # string
  values @1 :List(UInt32);  # strings
  operator @2 :SelectorOperator;
}

struct Term {
  expressions @0 :List(Requirement);
  fields @1 :List(Requirement);
}

struct Toleration {
  key @0 :UInt32;    # string
  value @1 :UInt32;  # string
  operator @2 :TolerationOperator;
  effect @3 :TaintEffect;
}

struct Taint {
  key @0 :UInt32;    # string
  value @1 :UInt32;  # string
  effect @2 :TaintEffect;
}

struct Placement {
  # Which nodes a pod may go to, as the API has it.
  nodeSelector @0 :List(Label);
  terms @1 :List(Term);
  tolerations @2 :List(Toleration);
  hasAffinity @3 :Bool;
  # A required node affinity without terms matches no node; so it must be told from none.
}

struct Labels {
  labels @0 :List(Label);  # in any order; of a key given twice the last counts
}

struct Taints {
  taints @0 :List(Taint);  # in the node's order
}

struct Record {
  # Times, in nanoseconds, and resourceVersions are steps from the record before in this batch (from 0 for the first),
  # modulo 2^64: steps are small and compress well. A time of 0 is not known.
  wallStep @0 :Int64;
  monotonicStep @1 :Int64;
  rvStep @2 :Int64;

  bodySize @3 :UInt32;
  # Bytes of the body. Bodies stand in column body.data in record order, each of size > 0 followed by one line feed that
  # is not part of it.

  objects @4 :UInt32;
  # A frame has exactly one.

  stream @5 :UInt16;
  # stream.id; never 0.

  kind @6 :RecordKind;
  verb @7 :Verb;
  checkpoint @8 :Bool;
  hasExtra @9 :Bool;
  hasBind @10 :Bool;
  # A bind request has one, with a pod.
}

struct Extra {
  # What few records have.
  status @0 :UInt16;
  path @1 :UInt32;     # string
  text @2 :UInt32;     # string
  gapFrom @3 :UInt64;  # a resourceVersion

  # Since format 3:
  moreObjects @4 :UInt64;
  # Of a list: how many more objects it has, in the `source` records behind it whose text is "part". If they are fewer,
  # the list is not whole, and nothing must be concluded from what it lacks.
}

struct PodFacts {
  rvBelow @0 :UInt64;  # the record's resourceVersion minus this one's, modulo 2^64: 0 for frames
  created @1 :Int64;
  deletion @2 :Int64;
  pod @3 :UInt32;        # pod; never none
  node @4 :UInt32;       # node; none: not bound
  scheduler @5 :UInt32;  # string
  shape @6 :UInt32;      # shape; never none
  priority @7 :Int32;
  phase @8 :PodPhase;
  scheduled @9 :Condition;
  mirror @10 :Bool;
  gated @11 :Bool;

  # Since format 2:
  placement @12 :UInt32;
  # placement; none: not known. With a placement, `unmodelled` is known, too.

  unmodelled @13 :UInt8;
  # A bit for each kind of constraint that inquest's core does not model: 1 topology spread, 2 required affinity or
  # anti-affinity to pods, 4 volume claims, 8 resource claims, 16 a nominated node, 32 preferences. Others: kept.
}

struct NodeFacts {
  rvBelow @0 :UInt64;
  created @1 :Int64;
  node @2 :UInt32;         # node; never none
  uid @3 :UInt32;          # string
  allocatable @4 :UInt32;  # allocatable; never none
  ready @5 :Condition;
  unschedulable @6 :Bool;

  # Since format 2:
  labels @7 :UInt32;  # labels; none: not known
  taints @8 :UInt32;  # taints; none: not known
}

struct EventFacts {
  rvBelow @0 :UInt64;
  key @1 :UInt32;            # key
  uid @2 :UInt32;            # string
  reason @3 :UInt32;         # string
  controller @4 :UInt32;     # string
  regardingKind @5 :UInt32;  # string
  regarding @6 :UInt32;      # key
  regardingUid @7 :UInt32;   # string
}

struct OtherFacts {
  rvBelow @0 :UInt64;
  kind @1 :UInt32;  # string
  key @2 :UInt32;   # key
  uid @3 :UInt32;   # string
}

struct Bind {
  requestBack @0 :UInt64;
  # This record's sequence number minus the request's; 0: no request. A request never comes after its answer.

  pod @1 :UInt32;        # pod
  node @2 :UInt32;       # node
  scheduler @3 :UInt32;  # string
  user @4 :UInt32;       # string
  agent @5 :UInt32;      # string
  reason @6 :UInt32;     # string
  message @7 :UInt32;    # string
  observations @8 :UInt32;
  code @9 :UInt16;
}

struct Observation {
  sent @0 :Int64;
  answered @1 :Int64;  # 0: no answer was seen
  stream @2 :UInt16;   # stream.id; never 0
}
