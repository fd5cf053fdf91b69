package store

import (
	"bytes"
	"context"
	"net/http"
	"slices"
)

// Replace uploads content to l if the stored object still has the version `before`. If `before` is empty, there must be
// no object. Otherwise the error wraps ErrChanged. If the content was stored but the answer was lost, a repeated
// request may also fail with this error. The caller can distinguish these cases by comparing the stored content.
//
// AWS, GCS, Azure, MinIO, R2 and other stores with the interface of S3 check the condition. Some stores refuse
// conditions; then the request is repeated without its condition. Other stores ignore conditions. In both cases the
// last writer replaces the object, and nobody receives an error. MinIO before August 2025 ignores the condition for an
// object that was deleted.
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
	return o, asOutputError(ctx, l, err)
}

// failsCondition reports whether a conditional upload was refused because its condition is not met. This includes the
// answers 404, by which AWS reports a deleted object, and 304, by which old versions of MinIO report an existing one.
func (r *refusal) failsCondition() bool {
	return r.status == http.StatusPreconditionFailed || r.status == http.StatusNotModified ||
		slices.Contains([]string{"NoSuchKey", "ConditionalRequestConflict", "BlobNotFound", "BlobAlreadyExists"}, r.code)
}
