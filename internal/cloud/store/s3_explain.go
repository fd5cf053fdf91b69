package store

import (
	"net/http"
	"regexp"
)

var regionName = regexp.MustCompile(`^[a-z0-9-]+$`)

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
	case regionName.MatchString(region) && region != s.region:
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
