package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
)

// azureTransfer is an upload in blocks, which nobody sees until a list of them is put.
type azureTransfer struct {
	*azure
	c      *Client
	l      Location
	prefix string // of the names of its blocks: others may upload to the same place
	blocks []string
}

func (a *azure) begin(_ context.Context, c *Client, l Location, size, part int64) (transfer, error) {
	own := make([]byte, 8)
	if _, err := rand.Read(own); err != nil {
		return nil, err
	}
	t := &azureTransfer{azure: a, c: c, l: l, prefix: hex.EncodeToString(own)}
	for i := range (size + part - 1) / part {
		t.blocks = append(t.blocks, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%08d", t.prefix, i)))
	}
	return t, nil
}

func (t *azureTransfer) atOnce() int { return inFlight }

func (t *azureTransfer) send(ctx context.Context, i int, body *section) error {
	query := url.Values{"comp": {"block"}, "blockid": {t.blocks[i]}}
	return t.c.do(ctx, t.azure, request{method: http.MethodPut, url: t.address(t.l, t.l.Key, query), body: body, settle: farewell / 2}, nil)
}

func (t *azureTransfer) finish() request { return t.list(t.blocks) }

// list is the request that makes blocks the blob.
func (t *azureTransfer) list(blocks []string) request {
	text, err := xml.Marshal(blockList{Latest: blocks})
	if err != nil {
		panic(fmt.Sprintf("names of blocks as XML: %v", err))
	}
	return request{
		method: http.MethodPut, url: t.address(t.l, t.l.Key, url.Values{"comp": {"blocklist"}}),
		body: newSection(bytes.NewReader(text), 0, int64(len(text))), slow: true,
		header: map[string]string{"X-Ms-Blob-Content-Type": octets[1]},
	}
}

// abort removes the blocks. Azure has no request for that: they go when a list without
// them is put. Where there is no blob, an empty one is put and removed; where there is one,
// it is not touched, and the store removes the blocks after a week.
func (t *azureTransfer) abort(ctx context.Context) error {
	r := t.list(nil)
	r.header["If-None-Match"] = "*"
	r.ok = []int{http.StatusCreated, http.StatusConflict, http.StatusPreconditionFailed}
	tag := ""
	err := t.c.do(ctx, t.azure, r, func(resp *http.Response) error {
		if resp.StatusCode == http.StatusCreated {
			tag = resp.Header.Get("ETag")
		}
		return nil
	})
	if err != nil || tag == "" {
		return err
	}
	r = t.remove(t.l)
	r.header = map[string]string{"If-Match": tag}
	r.ok = []int{http.StatusAccepted, http.StatusNotFound, http.StatusPreconditionFailed}
	return t.c.do(ctx, t.azure, r, nil)
}
