package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

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
		if err := checkEncrypted(r.URL); err != nil {
			return err
		}
		query := r.URL.Query()
		maps.Copy(query, a.sas)
		r.URL.RawQuery = query.Encode()
	case a.token != nil:
		if err := checkEncrypted(r.URL); err != nil {
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
