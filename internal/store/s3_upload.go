package store

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func (s *s3) put(l Location, body *section) request {
	return request{method: http.MethodPut, url: s.address(l, l.Key, nil), body: body}
}

func (s *s3) remove(l Location) request {
	return request{method: http.MethodDelete, url: s.address(l, l.Key, nil)}
}

// onlyOver sets the condition that S3 and Azure know. A version that is no tag can be none.
func (s *s3) onlyOver(r request, was string) request { return withCondition(r, was) }

func withCondition(r request, was string) request {
	r.header = maps.Clone(r.header)
	if r.header == nil {
		r.header = map[string]string{}
	}
	switch {
	case was == "":
		r.header["If-None-Match"] = "*"
	case strings.HasPrefix(was, `"`):
		r.header["If-Match"] = was
	}
	return r
}

// stored is the tag in the header, or in the text that ends an upload in parts.
func (s *s3) stored(h http.Header, body []byte) string {
	var ended struct{ ETag string }
	if h.Get("ETag") == "" && xml.Unmarshal(body, &ended) == nil {
		return etag(ended.ETag)
	}
	return etag(h.Get("ETag"))
}

// s3Transfer is a multipart upload.
type s3Transfer struct {
	*s3
	c  *Client
	l  Location
	id string

	sent  atomic.Bool // a part, whole or not
	mu    sync.Mutex
	parts []s3Part
}

type s3Part struct {
	PartNumber int
	ETag       string
}

func (s *s3) begin(ctx context.Context, c *Client, l Location, _, _ int64) (transfer, error) {
	var begun struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadId string   //nolint:revive // S3's name
	}
	r := request{method: http.MethodPost, url: s.address(l, l.Key, url.Values{"uploads": {""}})}
	err := c.do(ctx, s, r, func(resp *http.Response) error {
		body := &remembering{Reader: &bounded{resp.Body, answerBytes}}
		if err := xml.NewDecoder(body).Decode(&begun); err != nil || begun.UploadId == "" {
			if body.err != nil {
				return body.err
			}
			return faultf("check that the endpoint is the store's", "the store began no upload")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &s3Transfer{s3: s, c: c, l: l, id: begun.UploadId}, nil
}

func (s *s3) tryUpload(ctx context.Context, c *Client, l Location) error {
	begun, done := lingering(ctx, farewell/2)
	defer done()
	t, err := s.begin(begun, c, l, 0, 0)
	if err != nil {
		return err
	}
	return t.abort(begun)
}

func (t *s3Transfer) atOnce() int { return inFlight }

func (t *s3Transfer) send(ctx context.Context, i int, body *section) error {
	t.sent.Store(true)
	query := url.Values{"partNumber": {strconv.Itoa(i + 1)}, "uploadId": {t.id}}
	r := request{method: http.MethodPut, url: t.address(t.l, t.l.Key, query), body: body, settle: farewell / 2}
	return t.c.do(ctx, t.s3, r, func(resp *http.Response) error {
		tag := resp.Header.Get("ETag")
		if tag == "" {
			return errors.New("the store took a part and gave it no ETag")
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.parts = append(t.parts, s3Part{i + 1, tag})
		return nil
	})
}

func (t *s3Transfer) finish() request {
	slices.SortFunc(t.parts, func(a, b s3Part) int { return a.PartNumber - b.PartNumber })
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []s3Part
	}{Part: t.parts})
	if err != nil {
		panic(fmt.Sprintf("numbers and tags as XML: %v", err))
	}
	return request{
		method: http.MethodPost, url: t.address(t.l, t.l.Key, url.Values{"uploadId": {t.id}}),
		body: newSection(bytes.NewReader(text), 0, int64(len(text))), slow: true,
	}
}

// abort removes the parts. A part whose answer was lost may still be written while they are
// removed: S3 wants it to be checked that none is left, and the upload aborted again.
func (t *s3Transfer) abort(ctx context.Context) error {
	r := request{method: http.MethodDelete, url: t.address(t.l, t.l.Key, url.Values{"uploadId": {t.id}})}
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := t.c.do(ctx, t.s3, r, nil)
		if no := refusalOf(err); err != nil && (no == nil || no.status != http.StatusNotFound) {
			return err
		}
		if !t.sent.Load() || !t.listed(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// listed is whether the upload is still there, as far as we may know.
func (t *s3Transfer) listed(ctx context.Context) bool {
	r := request{method: http.MethodGet, url: t.address(t.l, t.l.Key, url.Values{"uploadId": {t.id}})}
	return refusalOf(t.c.do(ctx, t.s3, r, nil)) == nil
}

// refusedLate reads the answer to the last request of an upload. S3 begins it with status
// 200 before it knows how that ends; GCS may have kept a part of the last bytes only, and
// ignores that part when they are sent again.
func refusedLate(resp *http.Response) (body []byte, err error) {
	if resp.StatusCode == http.StatusPermanentRedirect {
		return nil, &lost{errors.New("the store kept only a part of what it was sent")}
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	var failed struct {
		XMLName       xml.Name
		Code, Message string
	}
	if xml.Unmarshal(body, &failed) == nil && failed.XMLName.Local == "Error" {
		resp.StatusCode = http.StatusInternalServerError
		if failed.Code != "InternalError" && failed.Code != "SlowDown" && failed.Code != "ServiceUnavailable" {
			resp.StatusCode = http.StatusBadRequest
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return nil, readRefusal(resp.Request, resp)
	}
	return body, nil
}
