package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"

	"github.com/ufs-stream/ufs-stream/stream"
)

// fault is an error with its remedy, before it is known whose name stands before them.
type fault struct {
	err    error
	remedy stream.Text
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// faultf makes a fault; remedy may name options as a Text does.
func faultf(remedy, format string, args ...any) error {
	return &fault{stream.Errorf(format, args...), stream.Textf(remedy)}
}

// lost is a request or an answer that did not get through; sending it again may help.
type lost struct{ err error }

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// final is an error of the network that stays.
type final struct{ err error }

func (f *final) Error() string { return f.err.Error() }
func (f *final) Unwrap() error { return f.err }

// temporary is whether the same request may well succeed.
func temporary(err error) bool {
	var l *lost
	var r *refusal
	switch {
	case errors.As(err, &l):
		return true
	case errors.As(err, &r):
		return r.temporary()
	}
	return false
}

// network makes an error of net/http one of ours: outer's own where that has ended, what
// ended inner, or what happened, without the address that net/http writes into it.
func network(outer, inner context.Context, err error) error {
	if outer.Err() != nil {
		return outer.Err()
	}
	var ours *lost
	if cause := context.Cause(inner); cause != nil && errors.As(cause, &ours) {
		return ours
	}
	var stays *final
	if errors.As(err, &stays) {
		return stays
	}
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	err = &quiet{text: withoutURLs(err.Error()), err: err}
	var unknown *net.DNSError
	var noTLS tls.RecordHeaderError
	var untrusted *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return &final{faultf("use http:// for it", "the server does not speak TLS")}
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return &final{faultf("check the address and the network", "the host %s is not known", unknown.Name)}
	case errors.As(err, &noTLS):
		return &final{faultf("use http:// for it", "the server does not speak TLS")}
	case errors.As(err, &untrusted), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return &final{&fault{err, stream.Textf("add its authority to the system's certificates, or to the file that SSL_CERT_FILE names")}}
	}
	return &lost{err}
}

// quiet is an error under a text of ours.
type quiet struct {
	text string
	err  error
}

func (q *quiet) Error() string { return q.text }
func (q *quiet) Unwrap() error { return q.err }

var urlInText = regexp.MustCompile(`"?[A-Za-z][A-Za-z0-9+.-]*://\S+|"?/?\S*\?\S+`)

// withoutURLs takes addresses out of a text: they may be signed.
func withoutURLs(s string) string { return urlInText.ReplaceAllString(s, "(an address)") }

// unavailable marks an error that is about the store, not about one of its objects.
type unavailable struct {
	error
	passes bool // it is temporary
}

func (u *unavailable) Unwrap() error { return u.error }

func (u *unavailable) Is(target error) bool {
	return target == ErrUnavailable || u.passes && target == stream.ErrTemporary //nolint:errorlint // errors.Is unwraps by itself
}

// ofStore marks err where it is the store that cannot be used, for now or by us.
func ofStore(err error) error {
	var r *refusal
	var stays *final
	switch {
	case temporary(err):
		return &unavailable{err, true}
	case errors.Is(err, stream.ErrTemporary): // of a provider of credentials
		return err
	case errors.As(err, &stays), errors.As(err, &r) && r.denied():
		return &unavailable{err, false}
	}
	return err
}

// data is the error of reading l that callers get.
func data(ctx context.Context, l Location, err error) error {
	remedy, whole, err := report(ctx, err)
	if whole {
		return err
	}
	return &stream.DataError{Path: l.Name(), RowGroup: -1, Row: -1, Err: ofStore(err), Remedy: remedy}
}

// output is the error of writing l that callers get.
func output(ctx context.Context, l Location, err error) error {
	remedy, whole, err := report(ctx, err)
	if whole {
		return err
	}
	return &stream.OutputError{Path: l.Name(), Err: ofStore(err), Remedy: remedy}
}

// report takes an error apart; it is whole where nothing goes around it.
func report(ctx context.Context, err error) (remedy stream.Text, whole bool, inner error) {
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
	case temporary(err):
		remedy = stream.Textf("trying again later may help; if it does not, check the network and the state of the store")
	}
	return remedy, false, err
}
