package store

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/ufs-stream/ufs-stream/stream"
)

const searchedByGS = "Google: looked for in the file that GOOGLE_APPLICATION_CREDENTIALS names, where gcloud auth application-default login writes them, and on the machine that gives them out"

// openGS determines the endpoint and finds credentials in the same places as Google's own libraries.
func openGS(ctx context.Context, l Location) (*gs, error) {
	g := &gs{endpoint: &url.URL{Scheme: "https", Host: "storage.googleapis.com"}}
	endpoint, emulator := l.query.Get("endpoint"), os.Getenv("STORAGE_EMULATOR_HOST")
	if endpoint == "" && emulator != "" {
		if endpoint = emulator; !strings.Contains(endpoint, "://") {
			endpoint = "http://" + endpoint
		}
	}
	if endpoint != "" {
		var err error
		if g.endpoint, err = parseEndpoint(endpoint); err != nil {
			return nil, stream.Usagef("STORAGE_EMULATOR_HOST %w", err)
		}
	}
	if l.isAnonymous() || emulator != "" && l.query.Get("endpoint") == "" {
		return g, nil
	}
	// Check with a time limit whether this machine provides credentials. The search for credentials below has no time
	// limit, and uses the answer of this check.
	if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
		asking, cancel := context.WithTimeout(ctx, 2*time.Second)
		metadata.OnGCEWithContext(asking)
		cancel()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for scope, tokens := range map[string]*oauth2.TokenSource{"devstorage.read_only": &g.readTokens, "devstorage.read_write": &g.writeTokens} {
		// Tokens are fetched when they are first needed, with a context that does not end. If the user signed in with
		// gcloud, the scope passed here is ignored: tokens have the scopes chosen at the sign-in.
		found, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), "https://www.googleapis.com/auth/"+scope)
		if err != nil {
			return nil, errNoCredentials(searchedByGS, err)
		}
		*tokens = found.TokenSource
	}
	return g, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
