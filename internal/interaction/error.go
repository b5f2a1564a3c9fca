package interaction

import (
	"errors"
	"fmt"
)

// Code says what kind of failure an [Error] is. The texts are part of the REST contract.
type Code string

// The codes, with the HTTP status REST gives them.
const (
	ValidationFailed Code = "validation_failed"         // 400: the shape is wrong
	InvalidRequest   Code = "invalid_request"           // 400: well-formed, but means nothing here
	Unauthorized     Code = "unauthorized"              // 401
	Forbidden        Code = "forbidden"                 // 403: visible, but not permitted
	CSRFCheckFailed  Code = "csrf_check_failed"         // 403: a form post from another site
	NotFound         Code = "not_found"                 // 404: unknown, or not visible to the caller
	Conflict         Code = "conflict"                  // 409
	IdempotencyKey   Code = "idempotency_key_conflict"  // 409: another answer, or another request under the same key
	StateTransition  Code = "state_transition_conflict" // 409: what was decided on is not what is there
	RequestTooLarge  Code = "request_too_large"         // 413
	RateLimited      Code = "rate_limited"              // 429
	Internal         Code = "internal_error"            // 500: nothing about it is told
	Unavailable      Code = "service_unavailable"       // 503
)

// Error is a failure that the caller can be told about.
type Error struct {
	Code    Code
	Message string // for people: what, where, and what is allowed. Always safe to show
	Err     error  // the cause, for the log; never shown
	// Final is the interaction that a 409 is about, as it ended; nil otherwise.
	Final *Interaction
	// RetryAfter is how many seconds to wait before trying again, for RateLimited and Unavailable; 0 leaves it open.
	RetryAfter int
}

// Error is the text for logs; it includes the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a message that may be shown to anybody.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError gives err as an Error. One that is none already becomes Internal with a text that tells nothing.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: "Something went wrong on our side. It was logged.", Err: err}
}

// CodeOf is the code of err: Internal for an unknown one, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// errNotFound is the one answer for an id that is unknown, another tenant's or another agent's: the same, byte for byte.
func errNotFound() *Error { return Errorf(NotFound, "Not found.") }
