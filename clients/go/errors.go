package seendb

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Error is a call that was refused by the server, or not answered.
type Error struct {
	// Code is the server's word ("invalid_argument", "not_found", "overloaded", ...), or, where no
	// server answered, "unavailable", "timeout", "protocol" or "closed".
	Code string
	// Message says what is wrong, in a sentence.
	Message string
	// Field is a JSON pointer to the input at fault ("/items/0"); empty: none.
	Field string
	// Status is that of the HTTP answer; 0: none came.
	Status int

	cause error
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Code + ": " + e.Message
	}
	return e.Code + ": " + e.Message + " (" + e.Field + ")"
}

// Unwrap gives what is behind it, as context.DeadlineExceeded; nil: nothing.
func (e *Error) Unwrap() error { return e.cause }

// Refused is the error of RecordPlays and RecordImpressions where every event was refused.
type Refused struct {
	Err      *Error
	Recorded Recorded
}

func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap gives the *Error.
func (r *Refused) Unwrap() error { return r.Err }

// CodeOf is the code of an error of this package; empty: it is another.
func CodeOf(err error) string {
	var told *Error
	if errors.As(err, &told) {
		return told.Code
	}
	return ""
}

func refuse(field, format string, args ...any) *Error {
	return &Error{Code: "invalid_argument", Message: fmt.Sprintf(format, args...), Field: field}
}

// errorOf reads what a server says of a refusal.
func errorOf(status int, body []byte) *Error {
	var told struct {
		Error struct{ Code, Message, Field string }
	}
	if json.Unmarshal(body, &told) != nil || told.Error.Code == "" {
		code := "protocol"
		if status == http.StatusBadGateway || status == http.StatusGatewayTimeout { // a proxy's
			code = "unavailable"
		}
		return &Error{Code: code, Message: fmt.Sprintf("HTTP %d, and not in SeenDB's words: %.100q", status, body), Status: status}
	}
	return &Error{Code: told.Error.Code, Message: told.Error.Message, Field: told.Error.Field, Status: status}
}
