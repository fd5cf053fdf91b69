package store

import (
	"bytes"
	"context"
	"net/http"
	"slices"
)

// Replace puts content at l in place of the version was of the object, or where there is none
// if that is empty; where there is another the error wraps ErrChanged. It does so also where
// an answer was lost and the content is there: who asks knows what he has sent.
//
// AWS, GCS and Azure keep to the condition, and so do MinIO, R2 and others that speak S3. A store
// that says it cannot is asked without it, and one that does not know it ignores it: there the
// last who writes wins, and nobody hears of it. MinIO before August 2025 does so with an object that
// is gone.
func (c *Client) Replace(ctx context.Context, l Location, content []byte, was string) (o Object, err error) {
	d, w, err := c.writer(ctx, l)
	if err == nil {
		put := w.put(l, newSection(bytes.NewReader(content), 0, int64(len(content))))
		o, err = c.put(ctx, d, w, w.onlyOver(put, was), l)
		if no := refusalOf(err); no != nil && no.status == http.StatusNotImplemented {
			o, err = c.put(ctx, d, w, put, l)
		}
	}
	switch no := refusalOf(err); {
	case no != nil && no.conditional():
		err = changed()
	case err != nil:
		err = c.explained(ctx, d, l, err)
	}
	return o, output(ctx, l, err)
}

// conditional is whether the condition of a put does not hold. AWS says so of an object that is
// gone by 404, and old MinIO of one that is there by 304.
func (r *refusal) conditional() bool {
	return r.status == http.StatusPreconditionFailed || r.status == http.StatusNotModified ||
		slices.Contains([]string{"NoSuchKey", "ConditionalRequestConflict", "BlobNotFound", "BlobAlreadyExists"}, r.code)
}
