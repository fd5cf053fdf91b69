package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// An error that is about the store is marked so, one about an object is not; and what may
// pass is told from what stays, whether the store is read, listed or written.
func TestUnavailable(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	c.patience.tries = 2
	c.part = 1 << 18
	large := strings.Repeat("x", 1<<19)
	o := put(t, c, s.URLAt(p.URL, "a"), []byte("abc"))
	requests := map[string]func() error{
		"stat":     func() error { _, err := c.Stat(t.Context(), o.Location); return err },
		"read":     func() error { return c.Read(t.Context(), o, make([]byte, 3), 0) },
		"download": func() error { return c.Download(t.Context(), o, new(strings.Builder)) },
		"list": func() error {
			for _, err := range c.List(t.Context(), o.WithKey("")) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"upload":       func() error { return failure(c.Upload(t.Context(), o.Location, strings.NewReader("abc"), 3)) },
		"parts":        func() error { return failure(c.Upload(t.Context(), o.Location, strings.NewReader(large), 1<<19)) },
		"may I upload": func() error { return c.CanUpload(t.Context(), o.Location) },
		"delete":       func() error { return c.Delete(t.Context(), o.WithKey("b")) },
	}
	judge := func(what string, passes bool) {
		t.Helper()
		for request, try := range requests {
			err := try()
			code, final := exit.Data, exit.CodeOf(err)
			if slices.Contains([]string{"upload", "parts", "may I upload"}, request) {
				code = exit.Fault
			}
			if passes {
				code = exit.TryAgain
			}
			if err == nil || final != code || passes != strings.Contains(err.Error(), "trying again later may help") {
				t.Errorf("%s, %s: exit code %d, want %d: %v", what, request, final, code, err)
			}
		}
	}
	for status, is := range map[int]struct{ ofStore, passes bool }{
		http.StatusServiceUnavailable: {true, true}, http.StatusTooManyRequests: {true, true}, http.StatusInternalServerError: {true, true},
		http.StatusForbidden: {true, false}, http.StatusUnauthorized: {true, false}, http.StatusNotImplemented: {false, false},
	} {
		p.OnRequest(func(*http.Request) *http.Response { return storetest.NewAnswer(status, "") })
		judge(fmt.Sprint("HTTP ", status), is.passes)
		if err := requests["stat"](); errors.Is(err, ErrUnavailable) != is.ofStore {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
	for _, status := range []int{http.StatusNotFound, http.StatusPreconditionFailed} {
		p.OnRequest(func(*http.Request) *http.Response { return storetest.NewAnswer(status, "") })
		if err := requests["read"](); errors.Is(err, ErrUnavailable) || exit.CodeOf(err) != exit.Data {
			t.Errorf("HTTP %d: %v", status, err)
		}
	}
	p.OnRequest(nil)
	p.ResetEach.Store(1)
	judge("connections reset", true)
	p.ResetEach.Store(0)
	c.patience.stall = 50 * time.Millisecond
	p.StallEach.Store(1)
	if err := requests["read"](); exit.CodeOf(err) != exit.TryAgain {
		t.Errorf("no byte comes: %v", err)
	}
	p.StallEach.Store(0)
	s.Stop()
	judge("stopped", true)
}

// Parts of an upload that a busy store keeps do not make a refusal one to try again, and a
// refusal to remove them does not make a busy store final.
func TestUnavailableTwice(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	c.patience.tries = 2
	c.part = 1 << 18
	for _, test := range []struct{ put, remove, code int }{
		{http.StatusForbidden, http.StatusServiceUnavailable, exit.Fault},
		{http.StatusServiceUnavailable, http.StatusForbidden, exit.TryAgain},
	} {
		p.OnRequest(func(r *http.Request) *http.Response {
			switch r.Method {
			case http.MethodPut:
				return storetest.NewAnswer(test.put, "")
			case http.MethodDelete:
				return storetest.NewAnswer(test.remove, "")
			}
			return nil
		})
		err := failure(c.Upload(t.Context(), at(t, s.URLAt(p.URL, "a")), strings.NewReader(strings.Repeat("x", 1<<19)), 1<<19))
		if exit.CodeOf(err) != test.code {
			t.Errorf("%v: exit code %d: %v", test, exit.CodeOf(err), err)
		}
	}
}

// What gives out credentials may be busy too: all machines of a job ask it at once.
func TestProviderBusy(t *testing.T) {
	long.SkipTest(t) // the library of the provider waits for seconds
	status := http.StatusServiceUnavailable
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	storetest.IsolateEnvironment(t)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", provider.URL+"/credentials")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	ask := func(want int) {
		t.Helper()
		_, err := client(nil).Stat(t.Context(), at(t, "s3://lake/key"))
		if exit.CodeOf(err) != want || !strings.Contains(err.Error(), "no credentials") {
			t.Errorf("exit code %d, want %d: %v", exit.CodeOf(err), want, err)
		}
	}
	ask(exit.TryAgain)
	status = http.StatusForbidden
	ask(exit.Data)
	provider.Close()
	ask(exit.TryAgain)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")
	ask(exit.Data) // nobody gives out any
}
