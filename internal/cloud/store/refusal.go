package store

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"golang.org/x/oauth2"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// refusal is the error for an answer of a store with a status other than the accepted ones.
type refusal struct {
	status        int
	code, message string // the store's code and text of the error; empty if it sent none
	header        http.Header
	retryAfter    time.Duration // delay that the store asks for before a retry
}

func (r *refusal) Error() string {
	s := fmt.Sprintf("HTTP %d", r.status)
	if r.code != "" {
		s += " " + r.code
	} else if text := http.StatusText(r.status); text != "" {
		s += " " + text
	}
	if r.message != "" {
		s += ": " + r.message
	}
	return s
}

func refusalOf(err error) *refusal {
	var r *refusal
	errors.As(err, &r)
	return r
}

func (r *refusal) isTemporary() bool {
	switch r.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return r.code == "RequestTimeout" // S3 sends this code with status 400
}

func (r *refusal) isDenied() bool {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return true
	}
	return strings.HasPrefix(r.code, "Expired") // ExpiredToken of S3, with status 400
}

func readRefusal(req *http.Request, resp *http.Response) error {
	r := &refusal{status: resp.StatusCode, header: resp.Header}
	if seconds, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64); err == nil && seconds > 0 {
		r.retryAfter = time.Duration(min(seconds, 3600) * float64(time.Second))
	} else if at, err := http.ParseTime(resp.Header.Get("Retry-After")); err == nil {
		r.retryAfter = max(0, time.Until(at))
	}
	// If the body cannot be read, only the status is known.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var asXML struct{ Code, Message string }
	var asJSON struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	switch {
	case len(body) == 0:
		r.code = resp.Header.Get("X-Ms-Error-Code")
	case xml.Unmarshal(body, &asXML) == nil && asXML.Code != "":
		r.code, r.message = asXML.Code, asXML.Message
	case json.Unmarshal(body, &asJSON) == nil:
		r.message = asJSON.Error.Message
		if len(asJSON.Error.Errors) > 0 {
			r.code = asJSON.Error.Errors[0].Reason
		}
	}
	if !errorCodePattern().MatchString(r.code) {
		r.code = ""
	}
	r.message, _, _ = strings.Cut(r.message, "\n")
	r.message = withoutSecrets(req, withoutURLs(strings.ToValidUTF8(r.message, "")))
	if len(r.message) > 300 {
		r.message = strings.ToValidUTF8(r.message[:300], "") + "…"
	}
	return r
}

var errorCodePattern = convert.CompilePattern(`^[A-Za-z][A-Za-z0-9_.-]{0,60}$`)

// withoutSecrets removes secrets of the request from a text of the server, which may repeat them. The secrets are the
// parts of signatures and tokens, and the values of the query.
func withoutSecrets(req *http.Request, s string) string {
	var secrets []string
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		fields := strings.FieldsFunc(req.Header.Get(name), func(r rune) bool { return strings.ContainsRune(" ,=", r) })
		secrets = append(secrets, fields...)
		for _, field := range fields {
			// The part before a slash may be an access key. Shorter parts, such as regions, are not secret.
			if id, _, ok := strings.Cut(field, "/"); ok && len(id) >= 16 {
				secrets = append(secrets, id)
			}
		}
	}
	for _, values := range req.URL.Query() {
		secrets = append(secrets, values...)
	}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			s = strings.ReplaceAll(s, secret, "…")
		}
	}
	return s
}

// processOutput matches the part of an AWS SDK error that repeats the output of a credentials program set by
// AWS_PROFILE. The SDK repeats the output only if it is malformed, and the output contains the secret.
var processOutput = convert.CompilePattern(`(?s)process output: .*, error:`)

var secretVariableName = convert.CompilePattern(`(?i)secret|key|token|password|sas|credential|connection`)

// providerText returns the text of an error from a provider of credentials, shortened to a sentence or two. It leaves
// out addresses, and secrets that environment variables contain.
func providerText(err error) string {
	s := processOutput().ReplaceAllString(withoutURLs(err.Error()), "process output:")
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); len(value) >= 8 && secretVariableName().MatchString(name) {
			s = strings.ReplaceAll(s, value, "…")
		}
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + "…"
	}
	return s
}

// noAWSProviderText is a part of the error text of the AWS SDK on a machine that does not provide credentials.
const noAWSProviderText = "no EC2 IMDS role found"

func errNoCredentials(where string, err error) error {
	if isProviderBusy(err) {
		return &unavailableError{faultf("trying again later may help; if it does not, check the service that gives out the credentials, or read public data without them: {anonymous}, or anonymous=true in the URL",
			"%s gives out no credentials at the moment: %s", where, providerText(err)), true}
	}
	const remedy = "set them, or read public data without them: {anonymous}, or anonymous=true in the URL"
	if strings.Contains(err.Error(), noAWSProviderText) {
		return faultf(remedy, "no credentials of %s", where)
	}
	return faultf(remedy, "no credentials of %s: %s", where, providerText(err))
}

// isProviderBusy reports whether the provider of credentials is down or busy, for example because ten thousand machines
// send requests at the beginning of a job. The result is false if nothing answers at the address at which a cloud
// provides credentials to its machines: then this is not a machine of that cloud.
func isProviderBusy(err error) bool {
	status := 0
	var aws interface{ HTTPStatusCode() int }
	var google *oauth2.RetrieveError
	var machine *metadata.Error
	var azure *azidentity.AuthenticationFailedError
	var sending net.Error
	switch {
	case errors.As(err, &aws):
		status = aws.HTTPStatusCode()
	case errors.As(err, &google) && google.Response != nil:
		status = google.Response.StatusCode
	case errors.As(err, &machine):
		status = machine.Code
	case errors.As(err, &azure) && azure.RawResponse != nil:
		status = azure.RawResponse.StatusCode
	case !strings.Contains(err.Error(), noAWSProviderText) && errors.As(err, &sending):
		var l *lostRequest
		return errors.As(asNetworkError(context.Background(), context.Background(), err), &l)
	}
	no := refusal{status: status}
	return no.isTemporary()
}
