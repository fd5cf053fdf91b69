package store

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A store that fails one request in a hundred, each way there is, is read to the end.
func TestThousandsOfReadsWithFaults(t *testing.T) {
	const n = 300_000
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		reads := int64(1000)
		if s.Scheme == "gs" && long.IsOn() {
			reads = 3000 // of the quickest server
		}
		p := storetest.NewProxy(t, s.Endpoint)
		var meter stream.Meter
		c := client(&meter)
		want := noise(n, 1)
		o := put(t, c, s.URLAt(p.URL, "object"), want)
		p.BusyEach.Store(97)
		p.ResetEach.Store(101)
		p.CutEach.Store(103)
		p.Reset()
		meter.Requests.Store(0)
		meter.Fetched.Store(0)
		var got atomic.Int64
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(worker)))
				for range reads / 4 {
					from := rng.Int64N(n)
					b := make([]byte, rng.Int64N(min(n-from, 20_000))+1)
					if err := c.Read(t.Context(), o, b, from); err != nil || !bytes.Equal(b, want[from:from+int64(len(b))]) {
						t.Errorf("%d bytes at %d: %v", len(b), from, err)
					}
					got.Add(int64(len(b)))
				}
			})
		}
		wg.Wait()
		requests, sent := p.RequestCounts()
		if requests[http.MethodGet] < reads+3*reads/103 || requests[http.MethodGet] != meter.Requests.Load() || meter.Requests.Load() != reads+meter.Retries.Load() {
			t.Errorf("%d requests reached the store; counted %d, of them %d again", requests[http.MethodGet], meter.Requests.Load(), meter.Retries.Load())
		}
		if retries := meter.Retries.Load(); retries < reads/50 || retries > reads/20 {
			t.Errorf("%d of %d reads were tried again, at 3 %% faults", retries, reads)
		}
		// Bodies are resumed, not read again: the bytes are those asked for, and the answers
		// that say that the store is busy have none.
		if fetched := meter.Fetched.Load(); fetched < got.Load() || fetched > got.Load()+got.Load()/50 || fetched > sent {
			t.Errorf("fetched %d bytes for %d; the store sent %d", fetched, got.Load(), sent)
		}
	})
}

// A body that always ends or stops halfway is put together from its parts.
func TestBrokenBodies(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	const n = 256 << 10
	want := noise(n, 1)
	for what, fault := range map[string]*atomic.Int64{"cut": &p.CutEach, "stalled": &p.StallEach} {
		var meter stream.Meter
		c := client(&meter)
		c.patience.stall = 200 * time.Millisecond
		o := put(t, c, s.URLAt(p.URL, "object"), want)
		fault.Store(2) // a try that succeeds follows each that fails
		var b bytes.Buffer
		must.Do(t, c.Download(t.Context(), o, &b))
		got := make([]byte, len(want))
		must.Do(t, c.Read(t.Context(), o, got, 0))
		fault.Store(0)
		if !bytes.Equal(b.Bytes(), want) || !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes", what)
		}
		if meter.Retries.Load() < 1 || meter.Fetched.Load() > 2*n+10_000 {
			t.Errorf("%s: %d retries, %d bytes fetched", what, meter.Retries.Load(), meter.Fetched.Load())
		}
		fault.Store(1)
		c.patience.tries = 3
		if err := c.Read(t.Context(), o, got, 0); err == nil || !strings.Contains(err.Error(), "tries over") {
			t.Errorf("%s each time: %v", what, err)
		}
		fault.Store(0)
	}
}

// A store that comes back soon is waited for; one that does not is given up in bounded time,
// with an error that names how long it was tried.
func TestServerStops(t *testing.T) {
	s := storetest.S3(t)
	var meter stream.Meter
	c := client(&meter)
	c.patience.bound, c.patience.tries = 10*time.Second, 100
	want := noise(1000, 1)
	o := put(t, c, s.URL("object"), want)
	s.Stop()
	done := make(chan error)
	b := make([]byte, 1000)
	go func() { done <- c.Read(t.Context(), o, b, 0) }()
	time.Sleep(300 * time.Millisecond)
	s.Start()
	if err := <-done; err != nil || !bytes.Equal(b, want) || meter.Retries.Load() == 0 {
		t.Errorf("after %d retries: %v", meter.Retries.Load(), err)
	}
	s.Stop()
	c.patience.bound = 500 * time.Millisecond
	begin := time.Now()
	_, err := c.Stat(t.Context(), o.Location)
	if took := time.Since(begin); err == nil || took > 30*time.Second || !strings.Contains(err.Error(), "connection refused") ||
		!strings.Contains(err.Error(), "tries over ") {
		t.Errorf("after %v: %v", took, err)
	}
}

// Refusals are final: only temporary ones are retried, not sooner than the store wants.
func TestWhatIsTriedAgain(t *testing.T) {
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	o := put(t, c, s.URLAt(p.URL, "object"), noise(10, 1))
	for status, again := range map[int]bool{400: false, 403: false, 404: false, 409: false, 501: false, 408: true, 429: true, 500: true, 502: true, 503: true, 504: true} {
		var asked atomic.Int64
		p.OnRequest(func(*http.Request) *http.Response {
			if asked.Add(1) == 1 {
				return storetest.NewAnswer(status, "")
			}
			return nil
		})
		err := c.Read(t.Context(), o, make([]byte, 10), 0)
		if again != (err == nil) || again != (asked.Load() == 2) {
			t.Errorf("HTTP %d: asked %d times, %v", status, asked.Load(), err)
		}
	}
	c.patience.bound = 1500 * time.Millisecond
	var wg sync.WaitGroup
	for after, least := range map[string]time.Duration{"1": time.Second, "100": c.patience.bound} {
		p := storetest.NewProxy(t, s.Endpoint)
		o := o
		o.Location = at(t, s.URLAt(p.URL, "object"))
		var asked atomic.Int64
		p.OnRequest(func(*http.Request) *http.Response {
			if asked.Add(1) > 1 {
				return nil
			}
			answer := storetest.NewAnswer(503, "")
			answer.Header.Set("Retry-After", after)
			return answer
		})
		wg.Go(func() {
			begin := time.Now()
			err := c.Read(t.Context(), o, make([]byte, 10), 0)
			if took := time.Since(begin); err != nil || took < least || took > least+10*time.Second {
				t.Errorf("Retry-After %s: %v after %v", after, err, took)
			}
		})
	}
	wg.Wait()
}

// Reads at the same time wait at the same time: none is sent only when another has ended.
func TestReadsAtOnce(t *testing.T) {
	const reads = 32
	s := storetest.S3(t)
	p := storetest.NewProxy(t, s.Endpoint)
	c := client(nil)
	c.patience.stall = time.Minute
	want := noise(reads*1000, 1)
	o := put(t, c, s.URLAt(p.URL, "object"), want)
	p.Latency.Store(int64(10 * time.Millisecond))
	var together sync.WaitGroup
	together.Add(reads)
	p.OnRequest(func(*http.Request) *http.Response {
		together.Done()
		together.Wait() // for all others
		return nil
	})
	var wg sync.WaitGroup
	for i := range int64(reads) {
		wg.Go(func() {
			b := make([]byte, 1000)
			if err := c.Read(t.Context(), o, b, i*1000); err != nil || !bytes.Equal(b, want[i*1000:][:1000]) {
				t.Errorf("reading 1,000 bytes at %d: error %v, or other bytes", i*1000, err)
			}
		})
	}
	wg.Wait()
}

// What a download is written to may fail; that is no error of the store, and not retried.
func TestDownloadToFullDisk(t *testing.T) {
	s := storetest.S3(t)
	var meter stream.Meter
	c := client(&meter)
	o := put(t, c, s.URL("object"), noise(1000, 1))
	full := errors.New("disk full")
	err := c.Download(t.Context(), o, writerFunc(func([]byte) (int, error) { return 0, full }))
	var bad *stream.DataError
	if !errors.Is(err, full) || errors.As(err, &bad) || meter.Retries.Load() > 0 {
		t.Errorf("download to a full disk: %v after %d retries, want the disk's error at once", err, meter.Retries.Load())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var _ io.Writer = writerFunc(nil)

// A server that does not speak TLS will not learn it: asking again is no use.
func TestServerWithoutTLS(t *testing.T) {
	s := storetest.S3(t)
	var meter stream.Meter
	l := at(t, "s3://lake/key?region=r&endpoint="+strings.Replace(s.Endpoint, "http://", "https://", 1))
	_, err := client(&meter).Stat(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "does not speak TLS") || !strings.Contains(err.Error(), "http://") || meter.Retries.Load() > 0 {
		t.Errorf("%v, after %d retries", err, meter.Retries.Load())
	}
}
