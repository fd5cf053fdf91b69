package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/compute/metadata"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/ufs-stream/ufs-stream/stream"
)

// gs is the dialect of Google Cloud Storage. It uses the JSON interface.
type gs struct {
	endpoint *url.URL
	// readTokens provide the tokens for requests that only read, and writeTokens for all others. If nil, requests are
	// unsigned.
	readTokens, writeTokens oauth2.TokenSource
}

// gsEntry is an object in the store's JSON.
type gsEntry struct {
	Name, Size, Generation string
	Updated                time.Time
}

func (e gsEntry) toObject(l Location) (Object, error) {
	size, err := strconv.ParseInt(e.Size, 10, 64)
	if err != nil || size < 0 {
		return Object{}, errNoSize()
	}
	return Object{Location: l, Size: size, Version: e.Generation, Modified: e.Updated}, nil
}

func (g *gs) bucketAddress(l Location, pathInBucket string, query url.Values) *url.URL {
	return addressOf(g.endpoint, "/storage/v1/b/"+percentEncode(l.Bucket, "")+pathInBucket, query)
}

func (g *gs) objectURL(l Location, query url.Values) *url.URL {
	return g.bucketAddress(l, "/o/"+percentEncode(l.Key, ""), query)
}

func (g *gs) headRequest(l Location) request {
	return request{method: http.MethodGet, url: g.objectURL(l, url.Values{"fields": {"name,size,generation,updated"}})}
}

func (g *gs) readObject(l Location, answer *http.Response) (Object, error) {
	var entry gsEntry
	if err := decodeJSON(answer.Body, &entry); err != nil {
		return Object{}, err
	}
	return entry.toObject(l)
}

func decodeJSON(r io.Reader, into any) error {
	body := &errorRecorder{Reader: &boundedReader{r, maxAnswerBytes}}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		if body.err != nil {
			return body.err
		}
		return faultf("check that the endpoint is the store's", "the store's answer cannot be read")
	}
	return nil
}

func (g *gs) versionOf(h http.Header) string { return h.Get("X-Goog-Generation") }

func (g *gs) rangeRequest(o Object, from, to int64) request {
	query := url.Values{"alt": {"media"}}
	if o.Version != "" {
		query.Set("ifGenerationMatch", o.Version)
	}
	// Without this header a compressed object would be sent decompressed, and without ranges.
	header := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, to-1), "Accept-Encoding": "gzip"}
	return request{method: http.MethodGet, url: g.objectURL(o.Location, query), header: header}
}

// signRequest adds a token to a request. Requests that only read get a token without the permission to write. Somebody
// who steals this token cannot change objects.
func (g *gs) signRequest(_ context.Context, r *http.Request, _ *section) error {
	tokens := g.writeTokens
	if r.Method == http.MethodGet {
		tokens = g.readTokens
	}
	if tokens == nil {
		return nil
	}
	if err := requireEncryption(r.URL); err != nil {
		return err
	}
	token, err := tokens.Token()
	if err != nil {
		return errNoCredentials(searchedByGS, err)
	}
	token.SetAuthHeader(r)
	return nil
}

func requireEncryption(u *url.URL) error {
	if u.Scheme == "https" || isLoopback(u.Hostname()) {
		return nil
	}
	return faultf("use an endpoint with https://, or {anonymous} or anonymous=true in the URL", "credentials are not sent to an endpoint without encryption")
}

func (g *gs) listRequest(l Location, cursor string, maxKeys int) request {
	query := pageQuery(url.Values{"fields": {"items(name,size,generation,updated),nextPageToken"}}, l, "pageToken", cursor, "maxResults", maxKeys)
	return request{method: http.MethodGet, url: g.bucketAddress(l, "/o", query)}
}

func (*gs) maxPageKeys() int { return 1000 }

func (*gs) readPage(p *page, l Location) (nextCursor string, err error) {
	d := json.NewDecoder(p)
	err = eachMember(d, func(name string) error {
		switch name {
		case "nextPageToken":
			return d.Decode(&nextCursor)
		case "items":
			return eachElement(d, '[', func() error {
				var entry gsEntry
				if err := d.Decode(&entry); err != nil {
					return err
				}
				o, err := entry.toObject(l.WithKey(entry.Name))
				if err != nil {
					return err
				}
				return p.addObject(o)
			})
		}
		return d.Decode(new(json.RawMessage))
	})
	return nextCursor, err
}

func eachMember(d *json.Decoder, read func(name string) error) error {
	return eachElement(d, '{', func() error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		return read(name)
	})
}

func eachElement(d *json.Decoder, openingBracket json.Delim, read func() error) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token == nil { // null: there are no elements
		return nil
	}
	if token != openingBracket {
		return fmt.Errorf("%v, and not %v", token, openingBracket)
	}
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// bucketRequest returns a request that looks up the bucket. It is needed because the answer of GCS does not
// distinguish a missing bucket from a missing object.
func (g *gs) bucketRequest(l Location) request {
	return request{method: http.MethodGet, url: g.bucketAddress(l, "", url.Values{"fields": {"name"}})}
}

func (g *gs) explainRefusal(l Location, r *refusal) error {
	switch r.status {
	case http.StatusNotFound:
		return errMissingKey()
	case http.StatusUnauthorized:
		if g.readTokens == nil {
			return faultf("leave {anonymous} and anonymous=true out and give credentials", "access without credentials is denied: %w", r)
		}
		return faultf("sign in again (gcloud auth application-default login), or check GOOGLE_APPLICATION_CREDENTIALS", "the credentials are not valid, or have expired: %w", r)
	case http.StatusForbidden:
		return faultf("check that the credentials may do this to the bucket "+l.Bucket, "access is denied: %w", r)
	}
	return nil
}

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
