// Objects of the Kubernetes API as JSON, as a server of version 1.36 writes them where scheduling looks at it: what a
// trace made of steps holds as bodies. Names and settings are those of steps.h, which need no escaping.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replayer/steps.h"
#include "schema/facts.h"

namespace inquest::replayer {

// An object as the API holds it.
struct ApiObject {
  std::string ns, name, uid;  // of a node without ns
  ResourceVersion rv = 0;
  Time created;
  Settings settings;
  // Of a pod.
  std::string node;
  std::string_view phase = "Pending";
  Time bound, deletion;  // not known: not bound, nobody has deleted it
};

// The same object always gets the same uid; the life of a pod counts how often its name was used, from 1.
std::string uid_of(std::string_view kind, std::string_view ns, std::string_view name, uint64_t life);

std::string pod_json(const ApiObject& pod);
std::string node_json(const ApiObject& node);

// An Event that says FailedScheduling of the pod.
struct FailedEvent {
  std::string name, uid, scheduler;
  ResourceVersion rv = 0;
  Time at;
};
std::string event_json(const FailedEvent& event, const ApiObject& pod);

// A frame of a watch. A BOOKMARK has but a kind and an rv.
std::string frame_json(std::string_view type, std::string_view object);
std::string bookmark_json(std::string_view kind, std::string_view api_version, ResourceVersion rv);
std::string gone_json(ResourceVersion asked, ResourceVersion now);

// A bind, and how the API server answers one (kubernetes-facts 6.1, 6.2). `pod`: the one that the name means by then;
// nullptr if there is none. `asked_uid` "": the request named none.
std::string binding_json(std::string_view ns, std::string_view name, std::string_view uid, std::string_view node);
struct BindStatus {
  std::string reason, message, json;
};
BindStatus bind_status(uint16_t code, std::string_view ns, std::string_view name, std::string_view asked_uid,
                       const ApiObject* pod);

// `text` as it stands within a JSON string.
std::string escaped(std::string_view text);

}  // namespace inquest::replayer
