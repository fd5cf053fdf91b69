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

func (s *s3) putRequest(l Location, body *section) request {
	return request{method: http.MethodPut, url: s.keyURL(l, l.Key, nil), body: body}
}

func (s *s3) deleteRequest(l Location) request {
	return request{method: http.MethodDelete, url: s.keyURL(l, l.Key, nil)}
}

// withPrecondition adds, in the form of S3 and Azure, the condition that the stored version equals the parameter
// `before`. If `before` is a time and not an entity tag, no condition is possible.
func (s *s3) withPrecondition(r request, before string) request { return withCondition(r, before) }

func withCondition(r request, expectedVersion string) request {
	r.header = maps.Clone(r.header)
	if r.header == nil {
		r.header = map[string]string{}
	}
	switch {
	case expectedVersion == "":
		r.header["If-None-Match"] = "*"
	case strings.HasPrefix(expectedVersion, `"`):
		r.header["If-Match"] = expectedVersion
	}
	return r
}

// storedVersion returns the tag in the header or, at the end of an upload in parts, in the body of the answer.
func (s *s3) storedVersion(h http.Header, body []byte) string {
	var ended struct{ ETag string }
	if h.Get("ETag") == "" && xml.Unmarshal(body, &ended) == nil {
		return quotedTag(ended.ETag)
	}
	return quotedTag(h.Get("ETag"))
}

// s3Transfer is an upload in parts, which S3 joins to an object in the end.
type s3Transfer struct {
	*s3
	c  *Client
	l  Location
	id string // S3's name of the upload

	sent  atomic.Bool // sending a part has begun, so the store may have parts
	mu    sync.Mutex
	parts []s3Part
}

type s3Part struct {
	PartNumber int
	ETag       string
}

func (s *s3) beginTransfer(ctx context.Context, c *Client, l Location, _, _ int64) (transfer, error) {
	var begun struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadId string   //nolint:revive // S3's name
	}
	r := request{method: http.MethodPost, url: s.keyURL(l, l.Key, url.Values{"uploads": {""}})}
	err := c.sendWithRetries(ctx, s, r, func(resp *http.Response) error {
		body := &errorRecorder{Reader: &boundedReader{resp.Body, maxAnswerBytes}}
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

func (s *s3) checkUploadAllowed(ctx context.Context, c *Client, l Location) error {
	return beginAndAbortUpload(ctx, c, l, s)
}

func (t *s3Transfer) partsAtOnce() int { return maxPartsInFlight }

func (t *s3Transfer) sendPart(ctx context.Context, i int, body *section) error {
	t.sent.Store(true)
	query := url.Values{"partNumber": {strconv.Itoa(i + 1)}, "uploadId": {t.id}}
	r := request{method: http.MethodPut, url: t.keyURL(t.l, t.l.Key, query), body: body, answerWait: abortTime / 2}
	return t.c.sendWithRetries(ctx, t.s3, r, func(resp *http.Response) error {
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

func (t *s3Transfer) finishRequest() request {
	slices.SortFunc(t.parts, func(a, b s3Part) int { return a.PartNumber - b.PartNumber })
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []s3Part
	}{Part: t.parts})
	if err != nil {
		panic(fmt.Sprintf("numbers and tags as XML: %v", err))
	}
	return request{
		method: http.MethodPost, url: t.keyURL(t.l, t.l.Key, url.Values{"uploadId": {t.id}}),
		body: newSection(bytes.NewReader(text), 0, int64(len(text))), isSlow: true,
	}
}

// abortUpload removes the parts. A part whose answer was lost may still be written meanwhile. Therefore S3 requires
// clients to check after the request whether parts are left, and then to repeat it.
func (t *s3Transfer) abortUpload(ctx context.Context) error {
	r := request{method: http.MethodDelete, url: t.keyURL(t.l, t.l.Key, url.Values{"uploadId": {t.id}})}
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := t.c.sendWithRetries(ctx, t.s3, r, nil)
		if denial := refusalOf(err); err != nil && (denial == nil || denial.status != http.StatusNotFound) {
			return err
		}
		if !t.sent.Load() || !t.isListed(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// isListed reports whether the upload still exists. Without the permission to list the parts it returns false.
func (t *s3Transfer) isListed(ctx context.Context) bool {
	r := request{method: http.MethodGet, url: t.keyURL(t.l, t.l.Key, url.Values{"uploadId": {t.id}})}
	return refusalOf(t.c.sendWithRetries(ctx, t.s3, r, nil)) == nil
}

// readFinalAnswer reads the answer to the last request of an upload. S3 sends status 200 before it knows whether the
// upload succeeds, so only the body shows whether it succeeded. GCS may have stored only a part of the last bytes; the
// request is then repeated, and GCS ignores the bytes that it already has.
func readFinalAnswer(resp *http.Response) (body []byte, err error) {
	if resp.StatusCode == http.StatusPermanentRedirect {
		return nil, &lostRequest{errors.New("the store kept only a part of the data")}
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
