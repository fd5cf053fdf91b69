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

// The status of an upload that the client gave up.
const statusClientClosed = 499

func (g *gs) uploadAddress(l Location, kind string) *url.URL {
	return addressOf(g.endpoint, "/upload/storage/v1/b/"+escape(l.Bucket, "")+"/o", url.Values{"uploadType": {kind}, "name": {l.Key}})
}

var octets = [2]string{"Content-Type", "application/octet-stream"}

func (g *gs) put(l Location, body *section) request {
	return request{method: http.MethodPost, url: g.uploadAddress(l, "media"), body: body, header: map[string]string{octets[0]: octets[1]}}
}

func (g *gs) onlyOver(r request, was string) request {
	u := *r.url
	query := u.Query()
	query.Set("ifGenerationMatch", cmp.Or(was, "0"))
	u.RawQuery = query.Encode()
	r.url = &u
	return r
}

func (g *gs) stored(_ http.Header, body []byte) string {
	var entry gsEntry
	if json.Unmarshal(body, &entry) != nil {
		return ""
	}
	return entry.Generation
}

func (g *gs) remove(l Location) request {
	return request{method: http.MethodDelete, url: g.address(l, nil)}
}

// gsTransfer is a resumable session. Its parts come one after the other, and the last one
// makes the object, so that it is kept for finish.
type gsTransfer struct {
	*gs
	c          *Client
	session    *url.URL
	size, part int64
	last       *section
}

func (g *gs) begin(ctx context.Context, c *Client, l Location, size, part int64) (transfer, error) {
	t := &gsTransfer{gs: g, c: c, size: size, part: part}
	r := request{method: http.MethodPost, url: g.uploadAddress(l, "resumable"), header: map[string]string{
		"X-Upload-Content-Type": octets[1], "X-Upload-Content-Length": strconv.FormatInt(size, 10),
	}}
	err := c.do(ctx, g, r, func(resp *http.Response) error {
		session, err := url.Parse(resp.Header.Get("Location"))
		if err != nil || session.Path == "" {
			return faultf("check that the endpoint is the store's", "the store began no upload")
		}
		// The session belongs to the server that was asked, by whichever name it knows itself.
		session.Scheme, session.Host, session.User = g.endpoint.Scheme, g.endpoint.Host, nil
		t.session = session
		return nil
	})
	return t, err
}

func (g *gs) tryUpload(ctx context.Context, c *Client, l Location) error {
	begun, done := lingering(ctx, farewell/2)
	defer done()
	t, err := g.begin(begun, c, l, 1, 1)
	if err != nil {
		return err
	}
	return t.abort(begun)
}

func (t *gsTransfer) atOnce() int { return 1 }

// send sends a part. The store may keep less of it than was sent, and ignores what it has
// already when it is sent again.
func (t *gsTransfer) send(ctx context.Context, i int, body *section) error {
	at := int64(i) * t.part
	if at+body.Size() == t.size {
		t.last = body
		return nil
	}
	for kept := int64(0); kept < body.Size(); {
		rest := newSection(body, kept, body.Size()-kept)
		r := t.chunk(at+kept, rest)
		r.ok = []int{http.StatusPermanentRedirect}
		err := t.c.do(ctx, t.gs, r, func(resp *http.Response) error {
			end, err := strconv.ParseInt(strings.TrimPrefix(resp.Header.Get("Range"), "bytes=0-"), 10, 64)
			if err != nil || end+1 <= at+kept {
				return &lost{errors.New("the store kept nothing of what it was sent")}
			}
			kept = min(end+1-at, body.Size())
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chunk is the request that sends bytes from an offset. The session's address is its
// permission.
func (t *gsTransfer) chunk(at int64, body *section) request {
	return request{method: http.MethodPut, url: t.session, body: body, bare: true, settle: farewell / 2, header: map[string]string{
		"Content-Range": fmt.Sprintf("bytes %d-%d/%d", at, at+body.Size()-1, t.size),
	}}
}

func (t *gsTransfer) finish() request {
	r := t.chunk(t.size-t.last.Size(), t.last)
	r.slow = true
	r.ok = []int{http.StatusOK, http.StatusCreated, http.StatusPermanentRedirect}
	return r
}

func (t *gsTransfer) abort(ctx context.Context) error {
	r := request{method: http.MethodDelete, url: t.session, bare: true,
		ok: []int{http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusGone, statusClientClosed}}
	return t.c.do(ctx, t.gs, r, nil)
}
