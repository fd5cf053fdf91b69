package store

import (
	"context"
	"errors"
	"net"
	"strings"

	"cloud.google.com/go/compute/metadata"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"golang.org/x/oauth2"
)

// noneOfAWS is the AWS SDK's error on a machine that does not provide credentials.
const noneOfAWS = "no EC2 IMDS role found"

// errNoCredentials returns an error that names the searched places, and the fault of the credentials found.
func errNoCredentials(where string, err error) error {
	if isProviderBusy(err) {
		return &unavailableError{faultf("trying again later may help; if it does not, check the service that gives out the credentials, or read public data without them: {anonymous}, or anonymous=true in the URL",
			"%s gives out no credentials at the moment: %s", where, providerText(err)), true}
	}
	const remedy = "set them, or read public data without them: {anonymous}, or anonymous=true in the URL"
	if strings.Contains(err.Error(), noneOfAWS) {
		return faultf(remedy, "no credentials of %s", where)
	}
	return faultf(remedy, "no credentials of %s: %s", where, providerText(err))
}

// isProviderBusy reports whether the provider of credentials is down or busy, as when ten thousand machines send
// requests at the beginning of a job. If the address for a cloud's machines does not answer, this is not a machine of
// that cloud.
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
	case !strings.Contains(err.Error(), noneOfAWS) && errors.As(err, &sending):
		var l *lostRequest
		return errors.As(networkError(context.Background(), context.Background(), err), &l)
	}
	no := refusal{status: status}
	return no.isTemporary()
}
