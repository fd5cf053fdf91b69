package store

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// azure is the dialect of Azure's blob storage. Of key, sas and token one is there, or
// none: then requests are not signed.
type azure struct {
	endpoint *url.URL // of the account
	account  string
	key      []byte                 // signs requests
	sas      url.Values             // goes into the query
	token    azcore.TokenCredential // gives a token for the header
}

func (a *azure) address(l Location, key string, query url.Values) *url.URL {
	path := "/" + escape(l.Bucket, "$")
	if key != "" {
		path += "/" + escape(key, "/")
	}
	return addressOf(a.endpoint, path, query)
}

func (a *azure) head(l Location) request {
	return request{method: http.MethodHead, url: a.address(l, l.Key, nil)}
}

func (a *azure) object(l Location, answer *http.Response) (Object, error) {
	if answer.ContentLength < 0 {
		return Object{}, noSize()
	}
	return Object{Location: l, Size: answer.ContentLength, Version: a.version(answer.Header)}, nil
}

func (a *azure) version(h http.Header) string { return etag(h.Get("ETag")) }

func (a *azure) get(o Object, from, to int64) request {
	return request{method: http.MethodGet, url: a.address(o.Location, o.Key, nil), header: rangeHeader(o, from, to)}
}

func (a *azure) list(l Location, after string, most int) request {
	query := pageQuery(url.Values{"restype": {"container"}, "comp": {"list"}}, l, "marker", after, "maxresults", most)
	return request{method: http.MethodGet, url: a.address(l, "", query)}
}

func (*azure) mostKeys() int { return 5000 }

// azureEntry is a blob as a listing describes it.
type azureEntry struct {
	Name struct {
		Encoded bool   `xml:",attr"`
		Text    string `xml:",chardata"`
	}
	Properties struct {
		Size int64  `xml:"Content-Length"`
		Etag string `xml:"Etag"`
		Last string `xml:"Last-Modified"`
	}
}

func (e *azureEntry) object(l Location) (o Object, err error) {
	key := e.Name.Text
	if e.Name.Encoded { // it has characters that XML cannot have
		if key, err = url.PathUnescape(key); err != nil {
			return Object{}, err
		}
	}
	last, _ := http.ParseTime(e.Properties.Last) // zero where the server tells none
	return Object{Location: l.WithKey(key), Size: e.Properties.Size, Version: etag(e.Properties.Etag), Modified: last}, nil
}

func (*azure) read(p *page, l Location) (after string, err error) {
	err = decodeChildren(p, "EnumerationResults", func(d *xml.Decoder, child *xml.StartElement) error {
		switch child.Name.Local {
		case "NextMarker":
			return d.DecodeElement(&after, child)
		case "Blobs":
			return eachChild(d, func(blob *xml.StartElement) error {
				if blob.Name.Local != "Blob" {
					return d.Skip()
				}
				var entry azureEntry
				if err := d.DecodeElement(&entry, blob); err != nil {
					return err
				}
				o, err := entry.object(l)
				if err != nil {
					return err
				}
				return p.add(o)
			})
		}
		return d.Skip()
	})
	return after, err
}

func (a *azure) explain(l Location, r *refusal) error {
	switch r.code {
	case "ContainerNotFound", "ContainerBeingDeleted":
		return faultf("check the container's name and the storage account", "there is no container %s: %w", l.Bucket, r)
	case "BlobNotFound":
		return missing()
	case "AuthenticationFailed", "InvalidAuthenticationInfo":
		return faultf("check AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, and this machine's clock",
			"the credentials are not those of the account, or no longer valid: %w", r)
	}
	switch r.status {
	case http.StatusNotFound:
		return missing()
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict:
		if a.key == nil && a.sas == nil && a.token == nil {
			return faultf("leave {anonymous} and anonymous=true out and give credentials", "access is denied to those without credentials: %w", r)
		}
		if r.status != http.StatusConflict {
			return faultf("check that the credentials (AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or another's) are the account's and may do this to the container, and that its firewall lets this machine in",
				"access is denied: %w", r)
		}
	}
	return nil
}

func (a *azure) put(l Location, body *section) request {
	return request{method: http.MethodPut, url: a.address(l, l.Key, nil), body: body,
		header: map[string]string{"X-Ms-Blob-Type": "BlockBlob", octets[0]: octets[1]}}
}

func (a *azure) onlyOver(r request, was string) request { return withCondition(r, was) }

func (a *azure) stored(h http.Header, _ []byte) string { return a.version(h) }

func (a *azure) remove(l Location) request {
	return request{method: http.MethodDelete, url: a.address(l, l.Key, nil)}
}

// tryUpload looks at the container. SAS and identities that may write and not look at it are
// not told from those that may do nothing: they are left to try.
func (a *azure) tryUpload(ctx context.Context, c *Client, l Location) error {
	r := request{method: http.MethodGet, url: a.address(l, "", url.Values{"restype": {"container"}})}
	err := c.do(ctx, a, r, nil)
	if no := refusalOf(err); a.key == nil && no != nil && no.status == http.StatusForbidden && no.code != "AuthenticationFailed" {
		return nil
	}
	return err
}

// blockList is what makes blocks a blob.
type blockList struct {
	XMLName xml.Name `xml:"BlockList"`
	Latest  []string
}
