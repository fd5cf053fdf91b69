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

const whereGS = "Google: looked for in the file that GOOGLE_APPLICATION_CREDENTIALS names, where gcloud auth application-default login writes them, and on the machine that gives them out"

// openGS finds the endpoint and the credentials, where Google's own libraries look for them.
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
	if l.anonymous() || emulator != "" && l.query.Get("endpoint") == "" {
		return g, nil
	}
	// Whether this machine gives out credentials is asked here, with an end: the search
	// below asks without one, and then has this answer.
	if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
		asking, cancel := context.WithTimeout(ctx, 2*time.Second)
		metadata.OnGCEWithContext(asking)
		cancel()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for scope, tokens := range map[string]*oauth2.TokenSource{"devstorage.read_only": &g.reading, "devstorage.read_write": &g.writing} {
		// Tokens are fetched when they are first needed, by this context as long as the Client
		// lives. A sign-in of gcloud has the scopes that it was made with, whatever is asked for here.
		found, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), "https://www.googleapis.com/auth/"+scope)
		if err != nil {
			return nil, noCredentials(whereGS, err)
		}
		*tokens = found.TokenSource
	}
	return g, nil
}

// loopback is whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
