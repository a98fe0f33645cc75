package problem

import (
	"maps"
	"net/http"
	"slices"
)

// Code identifies a kind of problem. Codes may be added, but never change their meaning.
type Code string

// The codes.
const (
	InvalidJSON         Code = "invalid_json"
	InvalidPath         Code = "invalid_path"
	InvalidCursor       Code = "invalid_cursor"
	InvalidRequest      Code = "invalid_request"
	InvalidParameters   Code = "invalid_parameters"
	InvalidSet          Code = "invalid_set"
	InvalidAnswer       Code = "invalid_answer"
	InvalidMessage      Code = "invalid_message"
	InvalidForkPoint    Code = "invalid_fork_point"
	InvalidPrompt       Code = "invalid_prompt"
	IdempotencyMismatch Code = "idempotency_mismatch"
	Unauthorized        Code = "unauthorized"
	Forbidden           Code = "forbidden"
	SetNotAllowed       Code = "set_not_allowed"
	NotAnApprover       Code = "not_an_approver"
	NotFound            Code = "not_found"
	NoOpenQuestion      Code = "no_open_question"
	MethodNotAllowed    Code = "method_not_allowed"
	RequestTimeout      Code = "request_timeout"
	RunExists           Code = "run_exists"
	Running             Code = "running"
	Ended               Code = "ended"
	StillNeeded         Code = "still_needed"
	NotExportable       Code = "not_exportable"
	ConversationBusy    Code = "conversation_busy"
	AlreadyDecided      Code = "already_decided"
	MessageConflict     Code = "message_conflict"
	UnresolvedWrite     Code = "unresolved_write"
	SpecChanged         Code = "spec_changed"
	QuestionChanged     Code = "question_changed"
	TooLarge            Code = "too_large"
	InvalidRange        Code = "invalid_range"
	UnsupportedMedia    Code = "unsupported_media_type"
	QuotaExceeded       Code = "quota_exceeded"
	InvalidCostLimit    Code = "invalid_cost_limit"
	RateLimited         Code = "rate_limited"
	Internal            Code = "internal"
	StoreCorrupt        Code = "store_corrupt"
	StoreFull           Code = "store_full"
	ArtifactsFull       Code = "artifacts_full"
	QueueFull           Code = "queue_full"
	ShuttingDown        Code = "shutting_down"
	Unavailable         Code = "unavailable"
	NotSupported        Code = "not_supported"
	RunFailed           Code = "run_failed"
)

// definitions has the status and the title of each code.
var definitions = map[Code]struct {
	status int
	title  string
}{
	InvalidJSON:         {http.StatusBadRequest, "invalid JSON"},
	InvalidPath:         {http.StatusBadRequest, "invalid path"},
	InvalidCursor:       {http.StatusBadRequest, "invalid cursor"},
	InvalidRequest:      {http.StatusUnprocessableEntity, "invalid request"},
	InvalidParameters:   {http.StatusUnprocessableEntity, "invalid parameters"},
	InvalidSet:          {http.StatusUnprocessableEntity, "invalid override"},
	InvalidAnswer:       {http.StatusUnprocessableEntity, "invalid answer"},
	InvalidMessage:      {http.StatusUnprocessableEntity, "invalid message"},
	InvalidForkPoint:    {http.StatusUnprocessableEntity, "invalid fork point"},
	InvalidPrompt:       {http.StatusUnprocessableEntity, "invalid prompt"},
	IdempotencyMismatch: {http.StatusUnprocessableEntity, "idempotency key reused for another request"},
	Unauthorized:        {http.StatusUnauthorized, "not authenticated"},
	Forbidden:           {http.StatusForbidden, "not permitted"},
	SetNotAllowed:       {http.StatusForbidden, "override not permitted"},
	NotAnApprover:       {http.StatusForbidden, "not an approver"},
	NotFound:            {http.StatusNotFound, "not found"},
	NoOpenQuestion:      {http.StatusNotFound, "no open question"},
	MethodNotAllowed:    {http.StatusMethodNotAllowed, "method not allowed"},
	RequestTimeout:      {http.StatusRequestTimeout, "request timeout"},
	RunExists:           {http.StatusConflict, "run exists"},
	Running:             {http.StatusConflict, "run is running"},
	Ended:               {http.StatusConflict, "run has ended"},
	NotExportable:       {http.StatusConflict, "run cannot be exported"},
	StillNeeded:         {http.StatusConflict, "run may still be needed"},
	ConversationBusy:    {http.StatusConflict, "conversation is busy"},
	AlreadyDecided:      {http.StatusConflict, "already decided"},
	MessageConflict:     {http.StatusConflict, "message id reused for another text"},
	UnresolvedWrite:     {http.StatusConflict, "unknown outcome of a write"},
	SpecChanged:         {http.StatusConflict, "spec has changed"},
	QuestionChanged:     {http.StatusPreconditionFailed, "question has changed"},
	TooLarge:            {http.StatusRequestEntityTooLarge, "request too large"},
	InvalidRange:        {http.StatusRequestedRangeNotSatisfiable, "invalid range"},
	UnsupportedMedia:    {http.StatusUnsupportedMediaType, "unsupported media type"},
	QuotaExceeded:       {http.StatusTooManyRequests, "quota exceeded"},
	InvalidCostLimit:    {http.StatusUnprocessableEntity, "invalid cost limit"},
	RateLimited:         {http.StatusTooManyRequests, "rate limit exceeded"},
	Internal:            {http.StatusInternalServerError, "internal error"},
	StoreCorrupt:        {http.StatusInternalServerError, "stored data is corrupt"},
	StoreFull:           {http.StatusInsufficientStorage, "disk full"},
	ArtifactsFull:       {http.StatusInsufficientStorage, "too many artifacts"},
	QueueFull:           {http.StatusServiceUnavailable, "queue full"},
	ShuttingDown:        {http.StatusServiceUnavailable, "server is shutting down"},
	Unavailable:         {http.StatusServiceUnavailable, "temporarily unavailable"},
	NotSupported:        {http.StatusNotImplemented, "not supported"},
	RunFailed:           {http.StatusInternalServerError, "run failed"},
}

// Codes returns all codes, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(definitions)) }
