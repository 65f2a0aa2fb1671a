#include "kube/client/transport.h"

#include <curl/curl.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "kube/client/gunzip.h"

namespace inquest::kube {
namespace {

constexpr size_t kMaxHeader = size_t{64} << 10;  // of all of an answer's headers that are looked at
constexpr long kConnectSeconds = 30;             // as client-go dials

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListDeleter>;

void append(List& list, const std::string& text) {
  curl_slist* grown = curl_slist_append(list.get(), text.c_str());
  INQUEST_CHECK(grown != nullptr, "out of memory");
  if (list == nullptr) list.reset(grown);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

struct Address {
  std::string scheme, host, port;
};
Address parse(const std::string& url) {
  Address out;
  CURLU* parts = curl_url();
  const auto get = [&](CURLUPart part, std::string& to) {
    char* text = nullptr;
    if (curl_url_get(parts, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK) to = text;
    curl_free(text);
  };
  if (curl_url_set(parts, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) {
    get(CURLUPART_SCHEME, out.scheme);
    get(CURLUPART_HOST, out.host);
    get(CURLUPART_PORT, out.port);
  }
  curl_url_cleanup(parts);
  return out;
}

bool is_this_host(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

HttpEnd::Kind kind_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::Kind::kDone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpEnd::Kind::kNotReached;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return HttpEnd::Kind::kCut;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpEnd::Kind::kTimeOut;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
      return HttpEnd::Kind::kTls;
    default:
      return HttpEnd::Kind::kBroken;
  }
}

// One exchange: its handle, what the handle refers to, and how far it has come.
struct Exchange {
  TransportRequest request;
  Receiver* receiver = nullptr;
  const Clock* clock = nullptr;
  Transport::Id id = 0;
  std::unique_ptr<CURL, EasyDeleter> easy;
  List headers, connect_to;
  char error[CURL_ERROR_SIZE] = {};

  Time started, heard;
  HttpHead head;
  size_t header_bytes = 0;
  bool gzip = false, head_told = false, paused = false, cancelled = false;
  std::optional<Gunzip> gunzip;
  std::string plain;
  std::optional<HttpEnd> failed;  // by us, not by curl

  template <typename Value>
  void set(CURLoption option, Value value) {
    INQUEST_CHECK(curl_easy_setopt(easy.get(), option, value) == CURLE_OK, "curl option", static_cast<int>(option));
  }
  void set_pem(CURLoption file, CURLoption blob, const Pem& pem) {
    const std::string& text = pem.text.reveal();
    if (!text.empty()) {
      curl_blob data{const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
      set(blob, &data);
    } else if (!pem.file.empty()) {
      set(file, pem.file.c_str());
    }
  }

  void prepare();
  void prepare_tls();
  void tell_head();
  size_t take_header(std::string_view line);
  size_t take(std::string_view piece);
  HttpEnd end_of(CURLcode code);
};

size_t on_header(char* data, size_t, size_t size, void* exchange) {
  return static_cast<Exchange*>(exchange)->take_header({data, size});
}
size_t on_bytes(char* data, size_t, size_t size, void* exchange) {
  return static_cast<Exchange*>(exchange)->take({data, size});
}

void Exchange::prepare() {
  easy.reset(curl_easy_init());
  INQUEST_CHECK(easy != nullptr, "curl");
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 30L);
  set(CURLOPT_TCP_KEEPINTVL, 30L);
  set(CURLOPT_BUFFERSIZE, 256L << 10);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &on_bytes);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (request.method != "GET") {
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.c_str());
  }
  prepare_tls();
  for (const std::string& header : request.headers) append(headers, header);
  for (const Secret& header : request.secret_headers) append(headers, header.reveal());
  set(CURLOPT_HTTPHEADER, headers.get());
}

void Exchange::prepare_tls() {
  const Address address = parse(request.url);
  std::string url = request.url;
  if (!request.tls_server_name.empty() && address.scheme == "https") {
    // curl has no option for the name in the handshake, but connects a URL's host to where it is told.
    const size_t host = url.find("://") + 3;
    url.replace(host, std::min(url.find('/', host), url.size()) - host, request.tls_server_name + ":" + address.port);
    append(connect_to, "::" + address.host + ":" + address.port);
    append(headers, "Host: " + address.host + ":" + address.port);
    set(CURLOPT_CONNECT_TO, connect_to.get());
  }
  set(CURLOPT_URL, url.c_str());
  if (is_this_host(address.host)) set(CURLOPT_NOPROXY, "*");
  if (!request.proxy.empty()) {
    set(CURLOPT_NOPROXY, "");
    set(CURLOPT_PROXY, request.proxy.c_str());
  }
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, request.insecure ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, request.insecure ? 0L : 2L);
  set_pem(CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB, request.ca);
  set_pem(CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB, request.certificate);
  set_pem(CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB, request.key);
}

size_t Exchange::take_header(std::string_view line) {
  const size_t size = line.size();
  heard = clock->monotonic();
  header_bytes += size;
  if (header_bytes > kMaxHeader) {
    failed = HttpEnd{HttpEnd::Kind::kBroken, false, "the head of the answer is larger than 64 KiB"};
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // of this answer, or of one before it (100 Continue)
    head = {};
    gzip = false;
    return size;
  }
  if (trimmed(line).empty()) tell_head();  // a stream's first byte may be long in coming
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return cancelled ? 0 : size;
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (same_name(name, "content-type")) head.content_type = value;
  if (same_name(name, "content-encoding")) gzip = same_name(value, "gzip");
  if (same_name(name, "retry-after")) {
    uint32_t seconds = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (code == std::errc() && end == value.data() + value.size()) head.retry_after_s = seconds;
  }
  return size;
}

void Exchange::tell_head() {
  if (head_told) return;
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return;
  head_told = true;
  head.status = static_cast<int>(status);
  if (gzip) gunzip.emplace();
  receiver->head(head);
}

size_t Exchange::take(std::string_view piece) {
  if (cancelled) return 0;
  if (paused) return CURL_WRITEFUNC_PAUSE;
  heard = clock->monotonic();
  tell_head();
  if (cancelled) return 0;
  std::string_view text = piece;
  if (gunzip) {
    plain.clear();
    if (const auto done = gunzip->add(piece, plain); !done.ok()) {
      failed = HttpEnd{HttpEnd::Kind::kBroken, false, done.error().text};
      return 0;
    }
    text = plain;
  }
  if (!text.empty()) paused = !receiver->bytes(text);
  return cancelled ? 0 : piece.size();
}

HttpEnd Exchange::end_of(CURLcode code) {
  if (failed) return *failed;
  if (code == CURLE_OK) return {};
  HttpEnd end;
  end.kind = kind_of(code);
  long os = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_OS_ERRNO, &os);
  end.refused = end.kind == HttpEnd::Kind::kNotReached && os == ECONNREFUSED;
  end.text = error[0] != '\0' ? error : curl_easy_strerror(code);
  return end;
}

}  // namespace

struct Transport::State {
  const Clock* clock = nullptr;
  std::unique_ptr<CURLM, MultiDeleter> multi;
  std::map<Id, std::unique_ptr<Exchange>> exchanges;
  Id next_id = 1;
  bool fresh_connections = false;  // for the next exchange

  void remove(Exchange& exchange) {
    curl_multi_remove_handle(multi.get(), exchange.easy.get());
    exchanges.erase(exchange.id);
  }
  void hand_out_ends();
  void look_at_time();
  Duration next_look(Duration wait) const;
};

Transport::Transport(const Clock& clock) : state_(std::make_unique<State>()) {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  INQUEST_CHECK(once == CURLE_OK, "curl");
  state_->clock = &clock;
  state_->multi.reset(curl_multi_init());
  INQUEST_CHECK(state_->multi != nullptr, "curl");
}
Transport::~Transport() {
  if (!state_) return;
  for (auto& [id, exchange] : state_->exchanges) curl_multi_remove_handle(state_->multi.get(), exchange->easy.get());
}
Transport::Transport(Transport&&) noexcept = default;
Transport& Transport::operator=(Transport&&) noexcept = default;

Transport::Id Transport::start(TransportRequest request, Receiver& receiver) {
  auto exchange = std::make_unique<Exchange>();
  exchange->request = std::move(request);
  exchange->receiver = &receiver;
  exchange->clock = state_->clock;
  exchange->id = state_->next_id++;
  exchange->started = exchange->heard = state_->clock->monotonic();
  exchange->prepare();
  if (state_->fresh_connections) exchange->set(CURLOPT_FRESH_CONNECT, 1L);
  state_->fresh_connections = false;
  INQUEST_CHECK(curl_multi_add_handle(state_->multi.get(), exchange->easy.get()) == CURLM_OK, "curl");
  const Id id = exchange->id;
  state_->exchanges.emplace(id, std::move(exchange));
  return id;
}

void Transport::cancel(Id id) {
  const auto found = state_->exchanges.find(id);
  if (found == state_->exchanges.end()) return;
  // Perhaps from within one of its own calls: curl must not lose the handle under its feet.
  found->second->cancelled = true;
}

void Transport::resume(Id id) {
  const auto found = state_->exchanges.find(id);
  if (found == state_->exchanges.end() || !found->second->paused) return;
  found->second->paused = false;
  found->second->heard = state_->clock->monotonic();
  curl_easy_pause(found->second->easy.get(), CURLPAUSE_CONT);
}

void Transport::State::hand_out_ends() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    Exchange* exchange = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
    if (!exchange->cancelled && code == CURLE_OK) exchange->tell_head();
    const HttpEnd end = exchange->end_of(code);
    Receiver* receiver = exchange->cancelled ? nullptr : exchange->receiver;
    remove(*exchange);
    if (receiver != nullptr) receiver->end(end);
  }
}

void Transport::State::look_at_time() {
  const Time now = clock->monotonic();
  std::vector<Id> ids;
  for (const auto& [id, exchange] : exchanges) ids.push_back(id);
  for (const Id id : ids) {
    const auto found = exchanges.find(id);
    if (found == exchanges.end()) continue;
    Exchange& exchange = *found->second;
    if (exchange.cancelled) {
      remove(exchange);
      continue;
    }
    const TransportRequest& request = exchange.request;
    const bool headless = !exchange.head_told && now - exchange.started > request.head_within;
    const bool silent =
        exchange.head_told && !exchange.paused && request.silence.ns > 0 && now - exchange.heard > request.silence;
    if (!headless && !silent) continue;
    Receiver* receiver = exchange.receiver;
    remove(exchange);
    receiver->end({HttpEnd::Kind::kTimeOut, false, headless ? "no answer within the time" : "no byte for too long"});
  }
}

Duration Transport::State::next_look(Duration wait) const {
  const Time now = clock->monotonic();
  for (const auto& [id, exchange] : exchanges) {
    const TransportRequest& request = exchange->request;
    if (exchange->cancelled) return {};
    if (!exchange->head_told) wait = std::min(wait, exchange->started + request.head_within - now);
    if (exchange->head_told && request.silence.ns > 0) wait = std::min(wait, exchange->heard + request.silence - now);
  }
  return std::max(wait, Duration{});
}

void Transport::run(Duration wait, std::span<pollfd> also) {
  State& state = *state_;
  std::vector<curl_waitfd> extra;
  for (const pollfd& one : also) extra.push_back({one.fd, CURL_WAIT_POLLIN, 0});
  int running = 0;
  curl_multi_perform(state.multi.get(), &running);
  state.hand_out_ends();
  const int64_t milliseconds = (state.next_look(wait).ns + 999'999) / 1'000'000;
  const int at_most = static_cast<int>(std::min<int64_t>(milliseconds, 60'000));
  curl_multi_poll(state.multi.get(), extra.data(), static_cast<unsigned>(extra.size()), at_most, nullptr);
  for (size_t i = 0; i < extra.size(); ++i) also[i].revents = extra[i].revents;
  curl_multi_perform(state.multi.get(), &running);
  state.hand_out_ends();
  state.look_at_time();
}

void Transport::forget_connections() { state_->fresh_connections = true; }

}  // namespace inquest::kube
