package store

import (
	"context"
	"io"
	"sync"
	"time"
)

// sendingBody is the body of a request that is being sent. Each read restarts the timer of the watchdog.
type sendingBody struct {
	body io.Reader
	dog  *watchdog

	mu        sync.Mutex
	left      int64 // number of bytes not yet sent
	givenUp   bool
	sourceErr error // error of reading the source, not of the network
}

func newSendingBody(body *section, dog *watchdog) *sendingBody {
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

// stopReading keeps net/http from reading more of the body, which net/http might do even after the answer has arrived.
func (s *sendingBody) stopReading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = true
}

// giveUp cancels a request. If only a part of the body was sent, the rest is not sent, so that the store cannot accept
// the request. If the whole body was sent, the store may accept it at any moment. In this case giveUp first waits for
// the answer, but no longer than wait, so that the store receives later requests after this one.
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

// watchedBody is the body of an answer, whose reads restart the timer of the watchdog. Its errors are io.EOF,
// *lostRequest or the error of the outer context.
type watchedBody struct {
	io.ReadCloser
	dog          *watchdog
	outer, inner context.Context // inner is the context of this request only
}

func (w *watchedBody) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.dog.resetTimer()
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		err = asNetworkError(w.outer, w.inner, err)
	}
	return n, err
}

// drainAndClose closes the body. It first reads up to 16 KiB of unread bytes, so that the connection can be used again.
func (w *watchedBody) drainAndClose() {
	_, _ = io.CopyN(io.Discard, w, 16<<10)
	w.Close()
}

// maxAnswerBytes is the limit for answers about one object or one upload. No store sends answers as large as this.
const maxAnswerBytes = 1 << 20

func errTooLarge() error {
	return faultf("check that the endpoint is the store's", "the store's answer is larger than such an answer can be")
}

// boundedReader reads at most `left` bytes from its Reader. It fails if the Reader has more bytes.
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
