package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// statusClientClosed is GCS's status for an upload that the client has cancelled.
const statusClientClosed = 499

func (g *gs) uploadAddress(l Location, uploadType string) *url.URL {
	return addressOf(g.endpoint, "/upload/storage/v1/b/"+percentEncode(l.Bucket, "")+"/o", url.Values{"uploadType": {uploadType}, "name": {l.Key}})
}

var octetHeader = [2]string{"Content-Type", "application/octet-stream"}

func (g *gs) putRequest(l Location, body *section) request {
	return request{method: http.MethodPost, url: g.uploadAddress(l, "media"), body: body, header: map[string]string{octetHeader[0]: octetHeader[1]}}
}

func (g *gs) withPrecondition(r request, expectedVersion string) request {
	u := *r.url
	query := u.Query()
	query.Set("ifGenerationMatch", cmp.Or(expectedVersion, "0"))
	u.RawQuery = query.Encode()
	r.url = &u
	return r
}

func (g *gs) storedVersion(_ http.Header, body []byte) string {
	var entry gsEntry
	if json.Unmarshal(body, &entry) != nil {
		return ""
	}
	return entry.Generation
}

func (g *gs) deleteRequest(l Location) request {
	return request{method: http.MethodDelete, url: g.objectURL(l, nil)}
}

// gsTransfer is a resumable upload session. Its parts are sent one after the other. Sending the last part completes the
// object, so sendPart keeps the last part until finishRequest is called.
type gsTransfer struct {
	*gs
	c          *Client
	session    *url.URL
	size, part int64
	last       *section
}

func (g *gs) beginTransfer(ctx context.Context, c *Client, l Location, size, part int64) (transfer, error) {
	t := &gsTransfer{gs: g, c: c, size: size, part: part}
	r := request{method: http.MethodPost, url: g.uploadAddress(l, "resumable"), header: map[string]string{
		"X-Upload-Content-Type": octetHeader[1], "X-Upload-Content-Length": strconv.FormatInt(size, 10),
	}}
	err := c.sendWithRetries(ctx, g, r, func(resp *http.Response) error {
		session, err := url.Parse(resp.Header.Get("Location"))
		if err != nil || session.Path == "" {
			return faultf("check that the endpoint is the store's", "the store began no upload")
		}
		// Send to the given endpoint, even if the server names another host in the session's address.
		session.Scheme, session.Host, session.User = g.endpoint.Scheme, g.endpoint.Host, nil
		t.session = session
		return nil
	})
	return t, err
}

func (g *gs) checkUploadAllowed(ctx context.Context, c *Client, l Location) error {
	return beginAndAbortUpload(ctx, c, l, g)
}

func (t *gsTransfer) partsAtOnce() int { return 1 }

// sendPart sends part i. GCS may store only the beginning of a part, and the rest is then sent again. If bytes that
// are already stored are sent again, GCS ignores them.
func (t *gsTransfer) sendPart(ctx context.Context, i int, body *section) error {
	at := int64(i) * t.part
	if at+body.Size() == t.size {
		t.last = body
		return nil
	}
	for stored := int64(0); stored < body.Size(); {
		rest := newSection(body, stored, body.Size()-stored)
		r := t.chunkRequest(at+stored, rest)
		r.okStatuses = []int{http.StatusPermanentRedirect}
		err := t.c.sendWithRetries(ctx, t.gs, r, func(resp *http.Response) error {
			end, err := strconv.ParseInt(strings.TrimPrefix(resp.Header.Get("Range"), "bytes=0-"), 10, 64)
			if err != nil || end+1 <= at+stored {
				return &lostRequest{errors.New("the store kept none of the data")}
			}
			stored = min(end+1-at, body.Size())
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chunkRequest returns a request that sends body, beginning at the offset `at` of the object. The request is not
// signed, because everybody who knows the session's address has the permission.
func (t *gsTransfer) chunkRequest(at int64, body *section) request {
	return request{method: http.MethodPut, url: t.session, body: body, isUnsigned: true, answerWait: abortTime / 2, header: map[string]string{
		"Content-Range": fmt.Sprintf("bytes %d-%d/%d", at, at+body.Size()-1, t.size),
	}}
}

func (t *gsTransfer) finishRequest() request {
	r := t.chunkRequest(t.size-t.last.Size(), t.last)
	r.isSlow = true
	r.okStatuses = []int{http.StatusOK, http.StatusCreated, http.StatusPermanentRedirect}
	return r
}

func (t *gsTransfer) abortUpload(ctx context.Context) error {
	r := request{method: http.MethodDelete, url: t.session, isUnsigned: true,
		okStatuses: []int{http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusGone, statusClientClosed}}
	return t.c.sendWithRetries(ctx, t.gs, r, nil)
}
