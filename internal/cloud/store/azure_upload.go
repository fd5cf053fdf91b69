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

// azureTransfer is an upload in blocks. The blocks stay invisible until a list of them is uploaded.
type azureTransfer struct {
	*azure
	c      *Client
	l      Location
	prefix string // of the names of this upload's blocks; another upload of the same object uses another prefix
	blocks []string
}

func (a *azure) beginTransfer(_ context.Context, c *Client, l Location, size, part int64) (transfer, error) {
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

func (t *azureTransfer) partsAtOnce() int { return maxPartsInFlight }

func (t *azureTransfer) sendPart(ctx context.Context, i int, body *section) error {
	query := url.Values{"comp": {"block"}, "blockid": {t.blocks[i]}}
	return t.c.sendWithRetries(ctx, t.azure, request{method: http.MethodPut, url: t.keyURL(t.l, t.l.Key, query), body: body, answerWait: abortTime / 2}, nil)
}

func (t *azureTransfer) finishRequest() request { return t.blockListRequest(t.blocks) }

func (t *azureTransfer) blockListRequest(blocks []string) request {
	text, err := xml.Marshal(blockList{Latest: blocks})
	if err != nil {
		panic(fmt.Sprintf("names of blocks as XML: %v", err))
	}
	return request{
		method: http.MethodPut, url: t.keyURL(t.l, t.l.Key, url.Values{"comp": {"blocklist"}}),
		body: newSection(bytes.NewReader(text), 0, int64(len(text))), isSlow: true,
		header: map[string]string{"X-Ms-Blob-Content-Type": octetHeader[1]},
	}
}

// abortUpload removes the blocks. Azure does not have a request for this, but removes the blocks of a blob when a
// list without them is uploaded. If the blob does not exist, abortUpload uploads an empty list, which creates an
// empty blob, and deletes the blob. If the blob exists, it is not changed, and Azure removes the blocks after a week.
func (t *azureTransfer) abortUpload(ctx context.Context) error {
	r := t.blockListRequest(nil)
	r.header["If-None-Match"] = "*"
	r.okStatuses = []int{http.StatusCreated, http.StatusConflict, http.StatusPreconditionFailed}
	tag := ""
	err := t.c.sendWithRetries(ctx, t.azure, r, func(resp *http.Response) error {
		if resp.StatusCode == http.StatusCreated {
			tag = resp.Header.Get("ETag")
		}
		return nil
	})
	if err != nil || tag == "" {
		return err
	}
	r = t.deleteRequest(t.l)
	r.header = map[string]string{"If-Match": tag}
	r.okStatuses = []int{http.StatusAccepted, http.StatusNotFound, http.StatusPreconditionFailed}
	return t.c.sendWithRetries(ctx, t.azure, r, nil)
}
