package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fault is an error with a remedy for the user. Callers add the name of the object for which it happened.
type fault struct {
	err    error
	remedy stream.Text
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// faultf returns a fault. The remedy may contain names of options, in the notation of stream.Text.
func faultf(remedy, format string, args ...any) error {
	return &fault{stream.Errorf(format, args...), stream.Textf(remedy)}
}

// lostRequest is the error for a request or an answer that did not arrive. Sending the request again may succeed.
type lostRequest struct{ err error }

func (l *lostRequest) Error() string { return l.err.Error() }
func (l *lostRequest) Unwrap() error { return l.err }

// permanentError is an error of the network for which retries are useless.
type permanentError struct{ err error }

func (f *permanentError) Error() string { return f.err.Error() }
func (f *permanentError) Unwrap() error { return f.err }

func isTemporary(err error) bool {
	var l *lostRequest
	var r *refusal
	switch {
	case errors.As(err, &l):
		return true
	case errors.As(err, &r):
		return r.isTemporary()
	}
	return false
}

// asNetworkError translates an error of net/http in a request. If the user's context outer has ended, it returns the
// error of outer. If only inner, the context of the request, has ended, it returns the cause for which inner was
// cancelled. Otherwise it returns err without the address that net/http adds.
func asNetworkError(outer, inner context.Context, err error) error {
	if outer.Err() != nil {
		return outer.Err()
	}
	var ours *lostRequest
	if cause := context.Cause(inner); cause != nil && errors.As(cause, &ours) {
		return ours
	}
	if stays, ok := errors.AsType[*permanentError](err); ok {
		return stays
	}
	if address, ok := errors.AsType[*url.Error](err); ok {
		err = address.Err
	}
	err = &rewordedError{text: withoutURLs(err.Error()), err: err}
	var unknown *net.DNSError
	var noTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return &permanentError{faultf("use http:// for it", "the server does not speak TLS")}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return &permanentError{faultf("check the address and the network", "the host %s is not known", unknown.Name)}
	case errors.As(err, &noTLS):
		return &permanentError{faultf("use http:// for it", "the server does not speak TLS")}
	case errors.As(err, &untrusted), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return &permanentError{&fault{err, stream.Textf("add its authority to the system's certificates, or to the file that SSL_CERT_FILE names")}}
	}
	return &lostRequest{err}
}

// rewordedError wraps an error and shows another text instead of the error's own.
type rewordedError struct {
	text string
	err  error
}

func (q *rewordedError) Error() string { return q.text }
func (q *rewordedError) Unwrap() error { return q.err }

var urlInText = convert.CompilePattern(`"?[A-Za-z][A-Za-z0-9+.-]*://\S+|"?/?\S*\?\S+`)

func withoutURLs(s string) string { return urlInText().ReplaceAllString(s, "(an address)") }

// unavailableError marks an error that concerns the whole store, not one of its objects.
type unavailableError struct {
	error
	isTemporary bool // the store may become available again by itself
}

func (u *unavailableError) Unwrap() error { return u.error }

func (u *unavailableError) Is(target error) bool {
	return target == ErrUnavailable || u.isTemporary && target == stream.ErrTemporary //nolint:errorlint // errors.Is unwraps by itself
}

func markStoreError(err error) error {
	var r *refusal
	var stays *permanentError
	switch {
	case isTemporary(err):
		return &unavailableError{err, true}
	case errors.Is(err, stream.ErrTemporary): // a provider of credentials is down or busy
		return err
	case errors.As(err, &stays), errors.As(err, &r) && r.isDenied():
		return &unavailableError{err, false}
	}
	return err
}

func asDataError(ctx context.Context, l Location, err error) error {
	remedy, whole, err := unpackError(ctx, err)
	if whole {
		return err
	}
	return &stream.DataError{Path: l.PublicName(), RowGroup: -1, Row: -1, Err: markStoreError(err), Remedy: remedy}
}

func asOutputError(ctx context.Context, l Location, err error) error {
	remedy, whole, err := unpackError(ctx, err)
	if whole {
		return err
	}
	return &stream.OutputError{Path: l.PublicName(), Err: markStoreError(err), Remedy: remedy}
}

// unpackError separates an error from its remedy. If whole is true, callers must return inner as it is.
func unpackError(ctx context.Context, err error) (remedy stream.Text, whole bool, inner error) {
	var usage *stream.UsageError
	var f *fault
	switch {
	case err == nil:
		return remedy, true, nil
	case ctx.Err() != nil:
		return remedy, true, ctx.Err()
	case errors.As(err, &usage):
		return remedy, true, err
	case errors.As(err, &f):
		remedy = f.remedy
	case isTemporary(err):
		remedy = stream.Textf("trying again later may help; if it does not, check the network and the state of the store")
	}
	return remedy, false, err
}
