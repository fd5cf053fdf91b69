package store

import (
	"bytes"
	"context"
	"net/http"
	"slices"
)

// Replace puts content at l if the stored object has the version before or, if before is empty, if there is no object.
// Otherwise the error wraps ErrChanged. This can also happen if the content was stored and the answer was lost; the
// caller can compare the stored content.
//
// AWS, GCS and Azure check the condition, and so do MinIO, R2 and others that speak S3. If a store refuses conditions,
// the request is sent without a condition. A store that does not know conditions ignores them. In both cases the last
// writer wins, and nobody receives an error. MinIO before August 2025 does the same for an object that was deleted.
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

// failsCondition reports whether the condition of a put does not hold. AWS answers 404 if the object was deleted, and
// old MinIO answers 304 if it exists.
func (r *refusal) failsCondition() bool {
	return r.status == http.StatusPreconditionFailed || r.status == http.StatusNotModified ||
		slices.Contains([]string{"NoSuchKey", "ConditionalRequestConflict", "BlobNotFound", "BlobAlreadyExists"}, r.code)
}
