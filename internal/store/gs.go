package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/oauth2"
)

// gs is the dialect of Google Cloud Storage: its JSON interface.
type gs struct {
	endpoint *url.URL
	// Tokens for requests that read, and for those that write; nil: requests are not signed.
	reading, writing oauth2.TokenSource
}

// gsEntry is an object as the store describes it.
type gsEntry struct {
	Name, Size, Generation string
	Updated                time.Time
}

func (e gsEntry) object(l Location) (Object, error) {
	size, err := strconv.ParseInt(e.Size, 10, 64)
	if err != nil || size < 0 {
		return Object{}, noSize()
	}
	return Object{Location: l, Size: size, Version: e.Generation, Modified: e.Updated}, nil
}

func (g *gs) bucketAddress(l Location, rest string, query url.Values) *url.URL {
	return addressOf(g.endpoint, "/storage/v1/b/"+escape(l.Bucket, "")+rest, query)
}

func (g *gs) address(l Location, query url.Values) *url.URL {
	return g.bucketAddress(l, "/o/"+escape(l.Key, ""), query)
}

func (g *gs) head(l Location) request {
	return request{method: http.MethodGet, url: g.address(l, url.Values{"fields": {"name,size,generation,updated"}})}
}

func (g *gs) object(l Location, answer *http.Response) (Object, error) {
	var entry gsEntry
	if err := decodeJSON(answer.Body, &entry); err != nil {
		return Object{}, err
	}
	return entry.object(l)
}

// decodeJSON reads an answer about one object; where that breaks off, the error is the network's.
func decodeJSON(r io.Reader, into any) error {
	body := &remembering{Reader: &bounded{r, answerBytes}}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		if body.err != nil {
			return body.err
		}
		return faultf("check that the endpoint is the store's", "the store's answer cannot be read")
	}
	return nil
}

func (g *gs) version(h http.Header) string { return h.Get("X-Goog-Generation") }

func (g *gs) get(o Object, from, to int64) request {
	query := url.Values{"alt": {"media"}}
	if o.Version != "" {
		query.Set("ifGenerationMatch", o.Version)
	}
	// An object that is stored compressed would be sent without that, and without ranges.
	header := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, to-1), "Accept-Encoding": "gzip"}
	return request{method: http.MethodGet, url: g.address(o.Location, query), header: header}
}

// sign adds a token. One that may write is asked for only when something is written: whoever gets
// hold of one that reads can change nothing.
func (g *gs) sign(_ context.Context, r *http.Request, _ *section) error {
	tokens := g.writing
	if r.Method == http.MethodGet {
		tokens = g.reading
	}
	if tokens == nil {
		return nil
	}
	if err := guarded(r.URL); err != nil {
		return err
	}
	token, err := tokens.Token()
	if err != nil {
		return noCredentials(whereGS, err)
	}
	token.SetAuthHeader(r)
	return nil
}

// guarded is an error where a token would go through a network in the clear.
func guarded(u *url.URL) error {
	if u.Scheme == "https" || loopback(u.Hostname()) {
		return nil
	}
	return faultf("use an endpoint with https://, or {anonymous} or anonymous=true in the URL", "credentials are not sent to an endpoint without encryption")
}

func (g *gs) list(l Location, after string, most int) request {
	query := pageQuery(url.Values{"fields": {"items(name,size,generation,updated),nextPageToken"}}, l, "pageToken", after, "maxResults", most)
	return request{method: http.MethodGet, url: g.bucketAddress(l, "/o", query)}
}

func (*gs) mostKeys() int { return 1000 }

func (*gs) read(p *page, l Location) (after string, err error) {
	d := json.NewDecoder(p)
	err = eachMember(d, func(name string) error {
		switch name {
		case "nextPageToken":
			return d.Decode(&after)
		case "items":
			return eachWithin(d, '[', func() error {
				var entry gsEntry
				if err := d.Decode(&entry); err != nil {
					return err
				}
				o, err := entry.object(l.WithKey(entry.Name))
				if err != nil {
					return err
				}
				return p.add(o)
			})
		}
		return d.Decode(new(json.RawMessage))
	})
	return after, err
}

// eachMember has read read the value of each member of an object.
func eachMember(d *json.Decoder, read func(name string) error) error {
	return eachWithin(d, '{', func() error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		return read(name)
	})
}

// eachWithin has read read all that is in an array, or an object, up to its end.
func eachWithin(d *json.Decoder, begin json.Delim, read func() error) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token == nil { // null: there are none
		return nil
	}
	if token != begin {
		return fmt.Errorf("%v, and not %v", token, begin)
	}
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// bucket asks whether there is the bucket: GCS answers the same where there is no object.
func (g *gs) bucket(l Location) request {
	return request{method: http.MethodGet, url: g.bucketAddress(l, "", url.Values{"fields": {"name"}})}
}

func (g *gs) explain(l Location, r *refusal) error {
	switch r.status {
	case http.StatusNotFound:
		return missing()
	case http.StatusUnauthorized:
		if g.reading == nil {
			return faultf("leave {anonymous} and anonymous=true out and give credentials", "access is denied to those without credentials: %w", r)
		}
		return faultf("sign in again (gcloud auth application-default login), or check GOOGLE_APPLICATION_CREDENTIALS", "the credentials are not or no longer valid: %w", r)
	case http.StatusForbidden:
		return faultf("check that the credentials may do this to the bucket "+l.Bucket, "access is denied: %w", r)
	}
	return nil
}
