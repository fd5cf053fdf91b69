package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// s3 is the dialect of Amazon S3 and of stores with the same interface.
type s3 struct {
	endpoint    *url.URL
	byPath      bool // the bucket's name is in the path and not in the host
	region      string
	credentials aws.CredentialsProvider // nil: requests are not signed
	signer      *v4.Signer
}

func (s *s3) keyURL(l Location, key string, query url.Values) *url.URL {
	// The host cannot contain a bucket's name with dots: certificates cover one label only.
	if s.byPath || strings.Contains(l.Bucket, ".") {
		return addressOf(s.endpoint, "/"+percentEncode(l.Bucket, "")+"/"+percentEncode(key, "/"), query)
	}
	host := *s.endpoint
	host.Host = l.Bucket + "." + host.Host
	return addressOf(&host, "/"+percentEncode(key, "/"), query)
}

func (s *s3) headRequest(l Location) request {
	return request{method: http.MethodHead, url: s.keyURL(l, l.Key, nil)}
}

func (s *s3) readObject(l Location, answer *http.Response) (Object, error) {
	return readHeader(s, l, answer)
}

// versionOf returns the entity tag or, if there is no tag, the time of the last change. Gateways to file systems send
// no tag for files that were not written through them.
func (s *s3) versionOf(h http.Header) string {
	return cmp.Or(quotedTag(h.Get("ETag")), modifiedVersion(h.Get("Last-Modified")))
}

// quotedTag returns an entity tag with quotes around it, because some listings contain tags without quotes.
func quotedTag(s string) string {
	if s == "" || strings.HasPrefix(s, "W/") {
		return s
	}
	return `"` + strings.Trim(s, `"`) + `"`
}

func (s *s3) rangeRequest(o Object, from, to int64) request {
	return request{method: http.MethodGet, url: s.keyURL(o.Location, o.Key, nil), header: rangeHeader(o, from, to)}
}

// rangeHeader returns the header of a request for the bytes [from, to). It adds the condition that the version is
// unchanged, unless the tag is weak, because servers do not accept conditions on weak tags.
func rangeHeader(o Object, from, to int64) map[string]string {
	h := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, to-1)}
	if strings.HasPrefix(o.Version, `"`) {
		h["If-Match"] = o.Version
	}
	return h
}

const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// signRequest signs a request. If the connection is not encrypted, it also signs the body. A signature is valid only
// for one request, so that a signature stolen from a request that reads cannot be used to write. S3 cannot restrict
// credentials to reading, except by its service STS, which needs a role that the user may not have.
func (s *s3) signRequest(ctx context.Context, r *http.Request, body *section) error {
	if s.credentials == nil {
		return nil
	}
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return errNoCredentials("AWS: looked for in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws/credentials and ~/.aws/config (AWS_PROFILE), and on the machine that gives them out (container, instance)", err)
	}
	hash := "UNSIGNED-PAYLOAD"
	switch {
	case r.ContentLength == 0:
		hash = emptySHA256
	case r.URL.Scheme == "http":
		sum := sha256.New()
		if _, err := io.Copy(sum, io.NewSectionReader(body, 0, body.Size())); err != nil {
			return fmt.Errorf("the data to be written cannot be read: %w", err)
		}
		hash = hex.EncodeToString(sum.Sum(nil))
	}
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if err := s.signer.SignHTTP(ctx, keys, r, hash, "s3", s.region, time.Now()); err != nil {
		return fmt.Errorf("the request cannot be signed: %s", providerText(err))
	}
	return nil
}

func (s *s3) listRequest(l Location, cursor string, maxKeys int) request {
	query := pageQuery(url.Values{"list-type": {"2"}, "encoding-type": {"url"}}, l, "continuation-token", cursor, "max-keys", maxKeys)
	return request{method: http.MethodGet, url: s.keyURL(l, "", query)}
}

func (*s3) maxPageKeys() int { return 1000 }

func (*s3) readPage(p *page, l Location) (nextCursor string, err error) {
	var encoding string
	var truncated bool
	err = decodeChildren(p, "ListBucketResult", func(d *xml.Decoder, child *xml.StartElement) error {
		switch child.Name.Local {
		case "EncodingType":
			return d.DecodeElement(&encoding, child)
		case "IsTruncated":
			return d.DecodeElement(&truncated, child)
		case "NextContinuationToken":
			return d.DecodeElement(&nextCursor, child)
		case "Contents":
			var entry struct {
				Key, ETag    string
				LastModified time.Time
				Size         int64
			}
			if err := d.DecodeElement(&entry, child); err != nil {
				return err
			}
			o := Object{Location: l.WithKey(entry.Key), Size: entry.Size, Version: quotedTag(entry.ETag), Modified: entry.LastModified}
			if entry.ETag == "" && !entry.LastModified.IsZero() {
				o.Version = modifiedVersion(entry.LastModified.UTC().Format(http.TimeFormat))
			}
			return p.addObject(o)
		}
		return d.Skip()
	})
	for i := range p.objects {
		if encoding != "url" || err != nil {
			break
		}
		p.objects[i].Key, err = url.QueryUnescape(p.objects[i].Key)
	}
	switch {
	case err != nil || !truncated:
		return "", err
	case nextCursor == "":
		return "", fmt.Errorf("a page is not the last one, but names no next page")
	}
	return nextCursor, nil
}

func decodeChildren(r io.Reader, root string, child func(*xml.Decoder, *xml.StartElement) error) error {
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if start.Name.Local != root {
				return fmt.Errorf("not a %s", root)
			}
			return eachChild(d, func(start *xml.StartElement) error { return child(d, start) })
		}
	}
}

func eachChild(d *xml.Decoder, child func(*xml.StartElement) error) error {
	for {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := child(&token); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

var regionNamePattern = convert.CompilePattern(`^[a-z0-9-]+$`)

func (s *s3) explainRefusal(l Location, r *refusal) error {
	region := r.header.Get("X-Amz-Bucket-Region")
	switch r.code {
	case "NoSuchKey":
		return errMissingKey()
	case "NoSuchBucket":
		return faultf("check the bucket's name, the region and the endpoint", "there is no bucket %s: %w", l.Bucket, r)
	case "InvalidAccessKeyId", "XAdminUserNotFound": // the second is versitygw's
		return faultf("check AWS_ACCESS_KEY_ID, AWS_PROFILE and the endpoint", "the store does not know the access key: %w", r)
	case "SignatureDoesNotMatch":
		return faultf("check AWS_SECRET_ACCESS_KEY, or the profile's setting", "the secret key does not belong to the access key: %w", r)
	case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return faultf("sign in again, or get a new AWS_SESSION_TOKEN", "the session token is not or no longer valid: %w", r)
	case "RequestTimeTooSkewed":
		return faultf("set this machine's clock", "this machine's clock and the store's differ too much for signatures: %w", r)
	case "AccessDenied", "AllAccessDisabled", "AccountProblem":
		if s.credentials == nil {
			return faultf("leave {anonymous} and anonymous=true out and give credentials", "access without credentials is denied: %w", r)
		}
		return faultf("check that the credentials may do this to the bucket, and the key too: a store does not say that an object is missing to those who may not list the bucket",
			"access is denied: %w", r)
	}
	switch {
	case regionNamePattern().MatchString(region) && region != s.region:
		return faultf("name it in the URL, region="+region+", or in AWS_REGION", "the bucket is in the region %s and was asked for in %s: %w", region, s.region, r)
	case r.code == "PermanentRedirect" || r.code == "AuthorizationHeaderMalformed" || r.status/100 == 3:
		return faultf("name the bucket's region in the URL, region=…, or in AWS_REGION", "the bucket is not in the region %s: %w", s.region, r)
	case r.status == http.StatusNotFound:
		return errMissingKey()
	case r.status == http.StatusForbidden || r.status == http.StatusUnauthorized:
		return faultf("check that the credentials may do this to the bucket", "access is denied: %w", r)
	}
	return nil
}

func errMissingKey() error { return faultf("check the key: capitals count, too", "%w", ErrNotExist) }
