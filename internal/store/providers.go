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

// noneOfAWS is AWS's way to say that a machine gives out no credentials.
const noneOfAWS = "no EC2 IMDS role found"

// noCredentials says where credentials were looked for, and what was wrong with those that
// were found.
func noCredentials(where string, err error) error {
	if providerBusy(err) {
		return &unavailable{faultf("trying again later may help; if it does not, see that what gives out the credentials works, or read public data without them: {anonymous}, or anonymous=true in the URL",
			"no credentials now of %s: %s", where, provided(err)), true}
	}
	const remedy = "set them, or read public data without them: {anonymous}, or anonymous=true in the URL"
	if strings.Contains(err.Error(), noneOfAWS) {
		return faultf(remedy, "no credentials of %s", where)
	}
	return faultf(remedy, "no credentials of %s: %s", where, provided(err))
}

// providerBusy is whether what gives out credentials, a service that ten thousand machines
// ask at the same moment when a job begins, is down or busy. That nobody answers at the
// address of a cloud's machines means only that this is none of them.
func providerBusy(err error) bool {
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
		var l *lost
		return errors.As(network(context.Background(), context.Background(), err), &l)
	}
	no := refusal{status: status}
	return no.temporary()
}
