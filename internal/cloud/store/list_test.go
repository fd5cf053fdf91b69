package store

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A listing of a hundred thousand keys holds one page of a thousand.
func TestListHeapStays(t *testing.T) {
	const all, page = 100_000, 1000
	storetest.IsolateEnvironment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continuation-token"))
		out := bufio.NewWriter(w)
		defer out.Flush()
		fmt.Fprintf(out, "<ListBucketResult><EncodingType>url</EncodingType>")
		for i := from; i < from+page; i++ {
			fmt.Fprintf(out, "<Contents><Key>table/day%%3D2026-01-01/part-%07d-and-the-usual-long-name.parquet</Key><ETag>&quot;0123456789abcdef0123456789abcdef&quot;</ETag><Size>%d</Size></Contents>", i, i)
		}
		if from+page < all {
			fmt.Fprintf(out, "<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", from+page)
		}
		fmt.Fprintf(out, "</ListBucketResult>")
	}))
	defer server.Close()
	c := client(nil)
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var begin, most uint64
	n := 0
	for o, err := range c.List(t.Context(), at(t, "s3://lake/table/?anonymous=true&endpoint="+server.URL)) {
		must.Do(t, err)
		if want := fmt.Sprintf("table/day=2026-01-01/part-%07d-and-the-usual-long-name.parquet", n); o.Key != want || o.Size != int64(n) {
			t.Fatalf("key %d is %s", n, o.Key)
		}
		if n++; n == 1 {
			begin = live()
		} else if n%10_000 == 500 {
			most = max(most, live())
		}
	}
	// It grows by some 10 KB; a byte kept of each key would be 100 KB.
	if n != all || most > begin+96<<10 {
		t.Errorf("%d keys; the heap grew from %d to %d bytes", n, begin, most)
	}
}

// A page that breaks off is asked for again, and no key comes twice.
func TestListWithFaults(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		p := storetest.NewProxy(t, s.Endpoint)
		c := client(nil)
		for i := range 50 {
			put(t, c, s.URL(fmt.Sprintf("many/%02d", i)), nil)
		}
		p.CutEach.Store(2)
		p.BusyEach.Store(3)
		for range 10 {
			if got := keys(t, c, s.URLAt(p.URL, "many/")); len(got) != 50 {
				t.Fatalf("%d keys", len(got))
			}
		}
	})
}

// endless is an answer that never ends: a beginning, and the same piece again and again. It counts
// what of it was read.
type endless struct {
	begin, piece string
	sent         int64
}

func (e *endless) Read(b []byte) (n int, err error) {
	for ; n < len(b); n++ {
		if at := e.sent; at < int64(len(e.begin)) {
			b[n] = e.begin[at]
		} else {
			b[n] = e.piece[(at-int64(len(e.begin)))%int64(len(e.piece))]
		}
		e.sent++
	}
	return n, nil
}

// A page that is larger than the store's can be is not read to its end, whatever it is made of.
func TestHugePages(t *testing.T) {
	long := strings.Repeat("k", 64<<10)
	jsonEntry := func(key string) string { return `{"name":"` + key + `","size":"1","generation":"1"},` }
	for name, test := range map[string]struct {
		lister lister
		answer endless
		most   int64 // bytes that are read
	}{
		"S3 entries":       {&s3{}, endless{begin: "<ListBucketResult>", piece: "<Contents><Key>k</Key><Size>1</Size></Contents>"}, 1 << 20},
		"S3 long entries":  {&s3{}, endless{begin: "<ListBucketResult>", piece: "<Contents><Key>" + strings.Repeat("k", 3000) + "</Key><Owner>" + strings.Repeat("o", 3000) + "</Owner></Contents>"}, 9 << 20},
		"S3 key":           {&s3{}, endless{begin: "<ListBucketResult><Contents><Key>", piece: "k"}, 1 << 20},
		"S3 keys":          {&s3{}, endless{begin: "<ListBucketResult>", piece: "<Contents><Key>" + long[:5000] + "</Key></Contents>"}, 1 << 20},
		"S3 others":        {&s3{}, endless{begin: "<ListBucketResult>", piece: "<Other/>"}, 1 << 20},
		"S3 nothing":       {&s3{}, endless{piece: " "}, 1 << 20},
		"S3 within":        {&s3{}, endless{begin: "<ListBucketResult>", piece: "<Contents>"}, 1 << 20},
		"S3 token":         {&s3{}, endless{begin: "<ListBucketResult><NextContinuationToken>", piece: "<a>b</a>"}, 1 << 20},
		"Azure entries":    {&azure{}, endless{begin: "<EnumerationResults><Blobs>", piece: "<Blob><Name>k</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>"}, 1 << 20},
		"Azure key":        {&azure{}, endless{begin: "<EnumerationResults><Blobs><Blob><Name>", piece: "k"}, 1 << 20},
		"Azure attribute":  {&azure{}, endless{begin: "<EnumerationResults ", piece: "a='b' "}, 1 << 20},
		"Azure others":     {&azure{}, endless{begin: "<EnumerationResults><Blobs>", piece: "<BlobPrefix><Name>a</Name></BlobPrefix>"}, 1 << 20},
		"Google entries":   {&gs{}, endless{begin: `{"items":[`, piece: jsonEntry("k")}, 1 << 20},
		"Google key":       {&gs{}, endless{begin: `{"items":[{"name":"`, piece: "k"}, 1 << 20},
		"Google keys":      {&gs{}, endless{begin: `{"items":[`, piece: jsonEntry(long)}, 1 << 20},
		"Google again":     {&gs{}, endless{begin: `{"items":[],`, piece: `"items":[` + strings.TrimSuffix(jsonEntry("k"), ",") + `],`}, 1 << 20},
		"Google others":    {&gs{}, endless{begin: `{`, piece: `"a":[1,2],`}, 1 << 20},
		"Google within":    {&gs{}, endless{begin: `{"a":`, piece: `[`}, 1 << 20},
		"Google name":      {&gs{}, endless{begin: `{"`, piece: `a`}, 1 << 20},
		"Google one token": {&gs{}, endless{begin: `{"nextPageToken":"`, piece: `a`}, 1 << 20},
	} {
		p := newPage(&test.answer, test.lister.maxPageKeys())
		_, err := test.lister.readPage(p, Location{})
		if err == nil || len(p.objects) > test.lister.maxPageKeys() || test.answer.sent > test.most {
			t.Errorf("%s: %d objects of %d bytes, want an error within %d: %v", name, len(p.objects), test.answer.sent, test.most, err)
		}
	}
}

// Whoever lists hears that it is the store's answer that is too large, and of no other try.
func TestHugePageIsNamed(t *testing.T) {
	storetest.IsolateEnvironment(t)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		var answer endless
		switch {
		case strings.HasPrefix(r.URL.Path, "/storage/v1/b/lake/o/"): // one object's
			answer = endless{begin: `{"a":"`, piece: "b"}
		case strings.HasPrefix(r.URL.Path, "/storage/"):
			answer = endless{begin: `{"items":[`, piece: `{"name":"k","size":"1"},`}
		case strings.HasPrefix(r.URL.Path, "/acc"):
			answer = endless{begin: "<EnumerationResults><Blobs>", piece: "<Blob><Name>k</Name></Blob>"}
		default:
			answer = endless{begin: "<ListBucketResult>", piece: "<Contents><Key>k</Key></Contents>"}
		}
		_, _ = io.CopyN(w, &answer, 300<<20)
	}))
	defer server.Close()
	for _, url := range []string{"s3://lake/a/?endpoint=" + server.URL, "gs://lake/a/?endpoint=" + server.URL, "azblob://lake/a/?storage_account=acc&endpoint=" + server.URL + "/acc"} {
		asked = 0
		var meter stream.Meter
		c := client(&meter)
		var err error
		n := 0
		for _, err = range c.List(t.Context(), at(t, url+"&anonymous=true")) {
			n++
		}
		if err == nil || n != 1 || !strings.Contains(err.Error(), "larger than") || !strings.Contains(err.Error(), url[:10]) || asked != 1 {
			t.Errorf("%s: %d yielded, asked %d times: %v", url, n, asked, err)
		}
		if got := meter.Fetched.Load(); got > 10<<20 {
			t.Errorf("%s: %d bytes were fetched", url, got)
		}
	}
	if _, err := client(nil).Stat(t.Context(), at(t, "gs://lake/k?anonymous=true&endpoint="+server.URL)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("an object's description without end: %v", err)
	}
}

// Pages as large as the protocols allow are read.
func TestLargestPages(t *testing.T) {
	key := strings.Repeat("&", 1019)
	for name, test := range map[string]struct {
		lister            lister
		begin, entry, end string // of the key's place
		escape            func(string) string
	}{
		"S3":     {&s3{}, "<ListBucketResult><EncodingType>url</EncodingType>", "<Contents><Key>%s</Key><Size>1</Size><ETag>e</ETag></Contents>", "</ListBucketResult>", url.QueryEscape},
		"Azure":  {&azure{}, "<EnumerationResults><Blobs>", "<Blob><Name>%s</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>", "</Blobs><NextMarker/></EnumerationResults>", func(s string) string { return strings.ReplaceAll(s, "&", "&amp;") }},
		"Google": {&gs{}, `{"nextPageToken":"","items":[{"name":"0","size":"1"}`, `,{"name":"%s","size":"1"}`, `]}`, func(s string) string { return strings.ReplaceAll(s, "&", `\u0026`) }},
	} {
		var text strings.Builder
		text.WriteString(test.begin)
		n := test.lister.maxPageKeys()
		if name == "Google" {
			n--
		}
		for i := range n {
			fmt.Fprintf(&text, test.entry, test.escape(fmt.Sprintf("%s%05d", key, i)))
		}
		text.WriteString(test.end)
		p := newPage(strings.NewReader(text.String()), test.lister.maxPageKeys())
		after, err := test.lister.readPage(p, Location{})
		if err != nil || after != "" || len(p.objects) != test.lister.maxPageKeys() || p.objects[len(p.objects)-1].Key != fmt.Sprintf("%s%05d", key, n-1) {
			t.Errorf("%s: %d objects of %d bytes: %v", name, len(p.objects), text.Len(), err)
		}
	}
}

// No text of a listing breaks its reader, and none makes a page of more than its bytes tell.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		"<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%20b</Key><ETag>&quot;e&quot;</ETag><LastModified>2026-01-01T00:00:00Z</LastModified><Size>3</Size></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
		"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "<ListBucketResult><Contents><Size>-1</Size></Contents></ListBucketResult>",
		`<?xml version="1.0"?><EnumerationResults><Blobs><Blob><Name Encoded="true">a%2Fb</Name><Properties><Content-Length>1</Content-Length><Etag>0x1</Etag></Properties></Blob></Blobs><NextMarker>m</NextMarker></EnumerationResults>`,
		`{"items":[{"name":"a","size":"1","generation":"2","updated":"2026-01-01T00:00:00Z"}],"nextPageToken":"t"}`, `{"items":null}`, `{"items":{}}`, `[`, `{"items":[{"size":"-1"}]}`, "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range []lister{&s3{}, &azure{}, &gs{}} {
			p := newPage(strings.NewReader(text), l.maxPageKeys())
			_, err := l.readPage(p, Location{Scheme: "s3", Bucket: "b"})
			if err == nil && len(p.objects)*8 > len(text) {
				t.Errorf("%T: %d objects of %q", l, len(p.objects), text)
			}
			for _, o := range p.objects {
				if o.Size < 0 || len(o.Key) > maxKeyBytes {
					t.Errorf("%T: %+v of %q", l, o, text)
				}
			}
		}
	})
}
