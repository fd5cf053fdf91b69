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
