package store

import (
	"context"
	"io"
	"sync"
	"time"
)

// sending is a request's body on its way. It shows its progress.
type sending struct {
	body io.Reader
	dog  *watchdog

	mu      sync.Mutex
	left    int64 // bytes that are not yet sent
	givenUp bool
	failed  error // why the source cannot be read, which is no fault of the network
}

func newSending(body *section, dog *watchdog) *sending {
	if body == nil {
		return &sending{dog: dog}
	}
	return &sending{body: newSection(body, 0, body.Size()), dog: dog, left: body.Size()}
}

func (s *sending) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.givenUp {
		return 0, context.Canceled
	}
	s.dog.kick()
	n, err := s.body.Read(b)
	s.left -= int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		s.failed = err
	}
	return n, err
}

func (s *sending) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// end keeps net/http from reading on when the request is over: it may send the rest of a
// body whose answer has come already.
func (s *sending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = true
}

// giveUp cancels a request. Of a body that is sent in part the rest is not sent, so that
// the store cannot take it; one that was sent whole may be taken in the next moment, and
// the answer is waited for, so that what comes behind comes behind it.
func (s *sending) giveUp(wait time.Duration, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		s.givenUp = true
		cancel()
		return
	}
	time.AfterFunc(wait, cancel)
}

// watched is an answer's body. Its errors other than io.EOF are *lost, or the context's.
type watched struct {
	io.ReadCloser
	dog          *watchdog
	outer, inner context.Context // of this one request
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.dog.kick()
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		err = network(w.outer, w.inner, err)
	}
	return n, err
}

// finish reads what little may be left, so that the connection can be used again.
func (w *watched) finish() {
	_, _ = io.CopyN(io.Discard, w, 16<<10)
	w.Close()
}

// answerBytes is more than a store says of one object or one upload.
const answerBytes = 1 << 20

// errTooLarge is the error of an answer that no store gives.
func errTooLarge() error {
	return faultf("check that the endpoint is the store's", "the store's answer is larger than such an answer can be")
}

// bounded reads up to a number of bytes, and fails beyond them.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// It may end just here.
		if n, err := b.Reader.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, errTooLarge()
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
