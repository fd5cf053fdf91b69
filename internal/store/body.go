package store

import (
	"context"
	"io"
	"sync"
	"time"
)

// sendingBody is the body of a request that is being sent. Each read resets the watchdog.
type sendingBody struct {
	body io.Reader
	dog  *watchdog

	mu        sync.Mutex
	left      int64 // bytes that are not yet sent
	givenUp   bool
	sourceErr error // error of the source, which is no fault of the network
}

func newSending(body *section, dog *watchdog) *sendingBody {
	if body == nil {
		return &sendingBody{dog: dog}
	}
	return &sendingBody{body: newSection(body, 0, body.Size()), dog: dog, left: body.Size()}
}

func (s *sendingBody) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.givenUp {
		return 0, context.Canceled
	}
	s.dog.resetTimer()
	n, err := s.body.Read(b)
	s.left -= int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		s.sourceErr = err
	}
	return n, err
}

func (s *sendingBody) sourceError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sourceErr
}

// stopReading keeps net/http from reading on when the request is over: it may still send the rest of a body after the
// answer has come.
func (s *sendingBody) stopReading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = true
}

// giveUp cancels a request. If the body is partly sent, the rest is not sent, so that the store cannot take it. If it
// was sent whole, the store may take it in the next moment: giveUp waits for the answer, so that later requests come
// later.
func (s *sendingBody) giveUp(wait time.Duration, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		s.givenUp = true
		cancel()
		return
	}
	time.AfterFunc(wait, cancel)
}

// watchedBody is an answer's body. Its errors other than io.EOF are *lostRequest, or the context's.
type watchedBody struct {
	io.ReadCloser
	dog          *watchdog
	outer, inner context.Context // of this one request
}

func (w *watchedBody) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.dog.resetTimer()
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		err = networkError(w.outer, w.inner, err)
	}
	return n, err
}

// drainAndClose reads the little that may be left, so that the connection can be used again.
func (w *watchedBody) drainAndClose() {
	_, _ = io.CopyN(io.Discard, w, 16<<10)
	w.Close()
}

// answerBytes is more than any answer about one object or one upload has.
const answerBytes = 1 << 20

// errTooLarge refuses an answer that no store gives.
func errTooLarge() error {
	return faultf("check that the endpoint is the store's", "the store's answer is larger than such an answer can be")
}

// boundedReader reads up to a number of bytes, and fails beyond them.
type boundedReader struct {
	io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The answer may end exactly at the bound.
		if n, err := b.Reader.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, errTooLarge()
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
