package storetest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Recorder is an untrusted web server that records every request. It is also an http.Handler, so that a test can record
// the requests to a server of its own.
type Recorder struct {
	URL string // http://127.0.0.1:PORT

	mu          sync.Mutex
	answer      http.Handler
	requests    []string
	connections int
}

// NewRecorder starts a Recorder. It sends the answers of the handler answer, or 404 if answer is nil.
func NewRecorder(t testing.TB, answer http.Handler) *Recorder {
	t.Helper()
	r := &Recorder{answer: answer}
	server := httptest.NewUnstartedServer(r)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.connections++
		}
	}
	server.Start()
	r.URL = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return r
}

// ServeHTTP implements http.Handler.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(q.Body, 1<<20))
	q.Body = io.NopCloser(bytes.NewReader(body))
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s\nHost: %s\n", q.Method, q.RequestURI, q.Host)
	_ = q.Header.Write(&text)
	text.Write(body)
	r.mu.Lock()
	r.requests = append(r.requests, text.String())
	r.mu.Unlock()
	if r.answer == nil {
		http.NotFound(w, q)
		return
	}
	r.answer.ServeHTTP(w, q)
}

// RequestTexts returns the text of each request so far: the first line, the host, the headers and the body.
func (r *Recorder) RequestTexts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

// WantSilence fails the test if anybody has connected to the server.
func (r *Recorder) WantSilence(t testing.TB) {
	t.Helper()
	if all := r.RequestTexts(); len(all) > 0 {
		t.Errorf("%s was asked, and must not be:\n%s", r.URL, strings.Join(all, "\n"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connections > 0 {
		t.Errorf("%d connections to %s, want none", r.connections, r.URL)
	}
}

// credentialMark matches headers and parameters that carry credentials, whatever their value, because a signature does
// not contain the text of the key. X-Ms-Version and X-Ms-Date are not included, because they are also sent without
// credentials.
var credentialMark = regexp.MustCompile(`(?im)^(?:proxy-)?authorization:|^cookie:|^x-amz-|^x-goog-|^x-ms-(?:encryption|copy|authorization|token)|[?&](?:sig|access_token|x-amz-[a-z-]+|x-goog-[a-z-]+)=`)

// WantNoCredentials fails the test if one of the requests so far carries credentials, or contains one of the secrets:
// unchanged, percent-encoded, in base64 or in hexadecimal digits.
func (r *Recorder) WantNoCredentials(t testing.TB, secrets ...string) {
	t.Helper()
	for _, q := range r.RequestTexts() {
		if mark := credentialMark.FindString(q); mark != "" {
			t.Errorf("%s got credentials, %q:\n%s", r.URL, mark, q)
		}
		for _, secret := range secrets {
			if holdsSecret(q, secret) {
				t.Errorf("%s got the secret %q:\n%s", r.URL, secret, q)
			}
		}
	}
}

// holdsSecret reports whether a text contains a secret, unchanged or in one of the encodings.
func holdsSecret(text, secret string) bool {
	if secret == "" {
		return false
	}
	forms := []string{secret, hex.EncodeToString([]byte(secret))}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// Base64 encodes three bytes at a time, so the encoding depends on the position of the secret in its group. The
		// digits at both ends of the encoded secret also depend on the bytes before and after it, and are left out.
		for before, skip := range []int{0, 2, 3} {
			all := encoding.EncodeToString(append(make([]byte, before), secret...))
			if whole := (before + len(secret)) / 3 * 4; whole > skip {
				forms = append(forms, all[skip:whole])
			}
		}
	}
	for range 3 { // unchanged, and with up to two layers of percent-encoding removed
		for _, form := range forms {
			if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
				return true
			}
		}
		text = percentDecode(text)
	}
	return false
}

func percentDecode(text string) string {
	return percentByte.ReplaceAllStringFunc(text, func(s string) string {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return s
		}
		return plain
	})
}

var percentByte = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
