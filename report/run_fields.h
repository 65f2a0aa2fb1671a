// The fields of a run file, said once for both directions: `io(name, value)` writes the value or reads it; `maybe` is a
// field that stands there only if it has a value. The order is that of the document.
#pragma once

#include "report/run_file.h"

namespace inquest::report {

template <typename Io>
void fields(Io& io, RunFile::Pod& pod) {
  io("namespace", pod.ns);
  io("name", pod.name);
  io("uid", pod.uid);
}

template <typename Io>
void fields(Io& io, RunFile::Port& port) {
  io("ip", port.ip);
  io("port", port.port);
  io("protocol", port.protocol);
}

template <typename Io>
void fields(Io& io, RunFile::Shape& shape) {
  io("cpu_milli", shape.cpu_milli);
  io("memory_bytes", shape.memory);
  io("ephemeral_bytes", shape.ephemeral);
  io("extended", shape.extended);
  io("host_ports", shape.ports);
}

template <typename Io>
void fields(Io& io, RunFile::Misfit& misfit) {
  io("kind", misfit.kind);
  io("holder", misfit.holder);
  io("host_port", misfit.port);
  io("resource", misfit.resource);
  io.maybe("text", misfit.text);
}

template <typename Io>
void fields(Io& io, RunFile::Hit& hit) {
  io("fault", hit.fault);
  io("seq", hit.seq);
  io("verb", hit.verb);
  io("rv", hit.rv);
  io("at", hit.at);
  io("pod", hit.pod);
  io("node", hit.node);
  io("how", hit.how);
  io("behind_seq", hit.behind_seq);
}

template <typename Io>
void fields(Io& io, RunFile::Refusal& refusal) {
  io("pod", refusal.pod);
  io("node", refusal.node);
  io("at", refusal.at);
  io("why", refusal.why);
}

template <typename Io>
void fields(Io& io, RunFile::Elsewhere& there) {
  io("policy", there.policy);
  io("arises", there.arises);
  io("cure", there.cure);
  io("end", there.end);
  io("after_end", there.after_end);
}

template <typename Io>
void fields(Io& io, RunFile::Blame& blame) {
  io("kind", blame.kind);
  io("faults", blame.faults);
  io("gap_seq", blame.gap_seq);
}

template <typename Io>
void fields(Io& io, RunFile::Finding& finding) {
  io("id", finding.id);
  io("verdict", finding.verdict);
  io.maybe("in", finding.in);
  io("pod", finding.pod);
  io("node", finding.node);
  io.maybe("applied_to", finding.applied_to);
  io.maybe("watch", finding.watch);
  io("holds", finding.holds);
  io("birth", finding.birth);
  io("birth_seq", finding.birth_seq);
  io("cure", finding.cure);
  io("after_end", finding.after_end);
  io("end", finding.end);
  io("lasted_ns", finding.lasted_ns);
  io("because", finding.because);
  io.maybe("blame", finding.blame);
  io("race", finding.race);
  io("root", finding.root);
  io("exceeds", finding.exceeds);
  io("would_refuse", finding.would_refuse);
  io("elsewhere", finding.elsewhere);
}

template <typename Io>
void fields(Io& io, RunFile::Fault& fault) {
  io("text", fault.text);
  io("fired", fault.fired);
  io("overruled", fault.overruled);
  io("unfelt", fault.unfelt);
  io("hits", fault.hits);
}

template <typename Io>
void fields(Io& io, RunFile::Policy& policy) {
  io("name", policy.name);
  io("text", policy.text);
  io("parameters", policy.parameters);
}

template <typename Io>
void fields(Io& io, RunFile::Takes& takes) {
  io("ns", takes.ns);
  io("from", takes.from);
  io("samples", takes.samples);
}

template <typename Io>
void fields(Io& io, RunFile::Pace& pace) {
  io("bind_rtt", pace.bind_rtt);
  io("deliver", pace.deliver);
  io("kubelet_start", pace.kubelet_start);
  io("kubelet_stop", pace.kubelet_stop);
}

template <typename Io>
void fields(Io& io, RunFile::Decided& decided) {
  io("pods", decided.pods);
  io("bound", decided.bound);
  io("bound_twice", decided.bound_twice);
  io("pending", decided.pending);
  io("gone_unbound", decided.gone_unbound);
  io("decisions", decided.decisions);
  io("unschedulable", decided.unschedulable);
  io("refused", decided.refused);
  io("hanging", decided.hanging);
  io("median_wait_ns", decided.median_wait_ns);
  io("longest_wait_ns", decided.longest_wait_ns);
}

template <typename Io>
void fields(Io& io, RunFile::Run& run) {
  io("mode", run.mode);
  io("scheduler", run.scheduler);
  io("scheduler_names", run.scheduler_names);
  io("policy", run.policy);
  io("faults", run.faults);
  io("lag_ns", run.lag_ns);
  io("drain_ns", run.drain_ns);
  io("seed", run.seed);
  io("chain", run.chain);
  io("state", run.state);
  io("start", run.start);
  io("end", run.end);
  io("nodes", run.nodes);
  io("pods", run.pods);
  io("pod_names", run.pod_names);
  io("inputs", run.inputs);
  io("binds_followed", run.followed);
  io("binds_inferred", run.inferred);
  io("binds_skipped", run.skipped);
  io("binds_outside_coverage", run.outside_coverage);
  io("binds_while_away", run.while_away);
  io("refused_within_lag", run.refused_within_lag);
  io("blocked_ns", run.blocked_ns);
  io("pace", run.pace);
  io("decided", run.decided);
  io.maybe("too_many_to_blame", run.too_many_to_blame);
}

// All but the trace, of which a document says more than a run file keeps.
template <typename Io>
void fields(Io& io, RunFile& file) {
  io("run", file.run);
  io("verdict", file.verdict);
  io("unknown_because", file.unknown_because);
  io("root_findings", file.root_findings);
  io("findings", file.findings);
}

// What is read of a trace.
template <typename Io>
void fields(Io& io, RunFile::Trace& trace) {
  io("file", trace.file);
  io("uuid", trace.uuid);
  io("complete", trace.complete);
}

}  // namespace inquest::report
