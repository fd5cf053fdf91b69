package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// azure is the dialect of Azure's blob storage, with the credentials of one account. At most one of key, sas and token
// is set. If none is set, requests are unsigned.
type azure struct {
	endpoint *url.URL // of the account
	account  string
	key      []byte                 // signs requests
	sas      url.Values             // is added to the query of each request
	token    azcore.TokenCredential // provides a token for the header
}

func (a *azure) keyURL(l Location, key string, query url.Values) *url.URL {
	path := "/" + percentEncode(l.Bucket, "$")
	if key != "" {
		path += "/" + percentEncode(key, "/")
	}
	return addressOf(a.endpoint, path, query)
}

func (a *azure) headRequest(l Location) request {
	return request{method: http.MethodHead, url: a.keyURL(l, l.Key, nil)}
}

func (a *azure) readObject(l Location, answer *http.Response) (Object, error) {
	return readHeader(a, l, answer)
}

func (a *azure) versionOf(h http.Header) string { return quotedTag(h.Get("ETag")) }

func (a *azure) rangeRequest(o Object, from, to int64) request {
	return request{method: http.MethodGet, url: a.keyURL(o.Location, o.Key, nil), header: rangeHeader(o, from, to)}
}

func (a *azure) listRequest(l Location, cursor string, maxKeys int) request {
	query := pageQuery(url.Values{"restype": {"container"}, "comp": {"list"}}, l, "marker", cursor, "maxresults", maxKeys)
	return request{method: http.MethodGet, url: a.keyURL(l, "", query)}
}

func (*azure) maxPageKeys() int { return 5000 }

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

func (e *azureEntry) toObject(l Location) (o Object, err error) {
	key := e.Name.Text
	if e.Name.Encoded { // the name has characters that XML cannot represent
		if key, err = url.PathUnescape(key); err != nil {
			return Object{}, err
		}
	}
	last, _ := http.ParseTime(e.Properties.Last) // zero if the server sends none
	return Object{Location: l.WithKey(key), Size: e.Properties.Size, Version: quotedTag(e.Properties.Etag), Modified: last}, nil
}

func (*azure) readPage(p *page, l Location) (nextCursor string, err error) {
	err = decodeChildren(p, "EnumerationResults", func(d *xml.Decoder, child *xml.StartElement) error {
		switch child.Name.Local {
		case "NextMarker":
			return d.DecodeElement(&nextCursor, child)
		case "Blobs":
			return eachChild(d, func(blob *xml.StartElement) error {
				if blob.Name.Local != "Blob" {
					return d.Skip()
				}
				var entry azureEntry
				if err := d.DecodeElement(&entry, blob); err != nil {
					return err
				}
				o, err := entry.toObject(l)
				if err != nil {
					return err
				}
				return p.addObject(o)
			})
		}
		return d.Skip()
	})
	return nextCursor, err
}

func (a *azure) explainRefusal(l Location, r *refusal) error {
	switch r.code {
	case "ContainerNotFound", "ContainerBeingDeleted":
		return faultf("check the container's name and the storage account", "there is no container %s: %w", l.Bucket, r)
	case "BlobNotFound":
		return errMissingKey()
	case "AuthenticationFailed", "InvalidAuthenticationInfo":
		return faultf("check AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, and this machine's clock",
			"the credentials do not belong to the account, or have expired: %w", r)
	}
	switch r.status {
	case http.StatusNotFound:
		return errMissingKey()
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict:
		if a.key == nil && a.sas == nil && a.token == nil {
			return faultf("leave {anonymous} and anonymous=true out and give credentials", "access without credentials is denied: %w", r)
		}
		if r.status != http.StatusConflict {
			return faultf("check that the credentials (AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or another's) are the account's and may do this to the container, and that its firewall lets this machine in",
				"access is denied: %w", r)
		}
	}
	return nil
}

func (a *azure) putRequest(l Location, body *section) request {
	return request{method: http.MethodPut, url: a.keyURL(l, l.Key, nil), body: body,
		header: map[string]string{"X-Ms-Blob-Type": "BlockBlob", octetHeader[0]: octetHeader[1]}}
}

func (a *azure) withPrecondition(r request, etag string) request { return withCondition(r, etag) }

func (a *azure) storedVersion(h http.Header, _ []byte) string { return a.versionOf(h) }

func (a *azure) deleteRequest(l Location) request {
	return request{method: http.MethodDelete, url: a.keyURL(l, l.Key, nil)}
}

// checkUploadAllowed looks up the container. If the credentials only permit writing, Azure gives the same answer as for
// credentials without any permission. In this case only the upload itself shows whether it is permitted.
func (a *azure) checkUploadAllowed(ctx context.Context, c *Client, l Location) error {
	r := request{method: http.MethodGet, url: a.keyURL(l, "", url.Values{"restype": {"container"}})}
	err := c.sendWithRetries(ctx, a, r, nil)
	if denial := refusalOf(err); a.key == nil && denial != nil && denial.status == http.StatusForbidden && denial.code != "AuthenticationFailed" {
		return nil
	}
	return err
}

// blockList is the XML document whose upload turns the listed blocks into a blob.
type blockList struct {
	XMLName xml.Name `xml:"BlockList"`
	Latest  []string
}

// azureVersion is the version of Azure's interface that requests use. Every emulator supports this version, and it
// permits blocks of up to 4000 MiB in an upload.
const azureVersion = "2021-08-06"

func (a *azure) signRequest(ctx context.Context, r *http.Request, _ *section) error {
	r.Header.Set("X-Ms-Version", azureVersion)
	r.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	switch {
	case a.key != nil:
		mac := hmac.New(sha256.New, a.key)
		mac.Write([]byte(a.stringToSign(r)))
		r.Header.Set("Authorization", "SharedKey "+a.account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	case a.sas != nil:
		if err := requireEncryption(r.URL); err != nil {
			return err
		}
		query := r.URL.Query()
		maps.Copy(query, a.sas)
		r.URL.RawQuery = query.Encode()
	case a.token != nil:
		if err := requireEncryption(r.URL); err != nil {
			return err
		}
		// Azure has one scope for all of storage, so a token cannot be limited to reading. The roles of the identity
		// determine its permissions.
		token, err := a.token.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{"https://storage.azure.com/.default"}})
		if err != nil {
			return errNoCredentials(searchedByAzure, err)
		}
		r.Header.Set("Authorization", "Bearer "+token.Token)
	}
	return nil
}

// stringToSign returns the text (StringToSign) that a Shared Key signs: the method, some headers in a fixed order,
// the headers of Azure and the resource.
func (a *azure) stringToSign(r *http.Request) string {
	lines := []string{r.Method}
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
		"If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"} {
		value := r.Header.Get(name)
		if name == "Content-Length" && r.ContentLength > 0 {
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		lines = append(lines, value)
	}
	own := map[string]string{}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ms-") {
			own[lower] = strings.TrimSpace(r.Header.Get(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		lines = append(lines, name+":"+own[name])
	}
	lines = append(lines, "/"+a.account+r.URL.EscapedPath())
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		lines = append(lines, strings.ToLower(name)+":"+strings.Join(slices.Sorted(slices.Values(query[name])), ","))
	}
	return strings.Join(lines, "\n")
}
