package store

import (
	"bytes"
	"context"
	"net/http"
	"slices"
)

// Replace puts content at l in place of the object's version before, or, if that is empty, of no object; if there is
// another version the error wraps ErrChanged. It does so also if an answer was lost and the content is there: the
// caller can compare it.
//
// AWS, GCS and Azure check the condition, and so do MinIO, R2 and others that speak S3. If a store refuses conditions
// the request is sent without one, and a store that does not know conditions ignores it: there the last writer wins,
// and nobody is told. MinIO before August 2025 does the same for an object that is gone.
func (c *Client) Replace(ctx context.Context, l Location, content []byte, before string) (o Object, err error) {
	d, w, err := c.writerOf(ctx, l)
	if err == nil {
		put := w.putRequest(l, newSection(bytes.NewReader(content), 0, int64(len(content))))
		o, err = c.sendPut(ctx, d, w, w.withPrecondition(put, before), l)
		if denial := refusalOf(err); denial != nil && denial.status == http.StatusNotImplemented {
			o, err = c.sendPut(ctx, d, w, put, l)
		}
	}
	switch denial := refusalOf(err); {
	case denial != nil && denial.failsCondition():
		err = errChanged()
	case err != nil:
		err = c.explainError(ctx, d, l, err)
	}
	return o, outputError(ctx, l, err)
}

// failsCondition reports whether the condition of a put does not hold. AWS answers 404 for an object that is gone,
// and old MinIO 304 for one that is there.
func (r *refusal) failsCondition() bool {
	return r.status == http.StatusPreconditionFailed || r.status == http.StatusNotModified ||
		slices.Contains([]string{"NoSuchKey", "ConditionalRequestConflict", "BlobNotFound", "BlobAlreadyExists"}, r.code)
}
