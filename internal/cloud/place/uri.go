package place

import (
	"net/url"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// azureHost is the end of the host names of Azure's storage accounts, as in ACCOUNT.blob.core.windows.net or
// ACCOUNT.dfs.core.windows.net.
const azureHost = ".core.windows.net"

// storeSchemes maps the URL schemes that Hadoop and other programs use to the schemes of stores.
var storeSchemes = map[string]string{
	"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "azblob": "azblob", "az": "azblob", "azure": "azblob",
	"abfs": "azblob", "abfss": "azblob", "wasb": "azblob", "wasbs": "azblob",
}

// ResolveURI is Resolve for an absolute, percent-encoded URI or path as in the logs of tables: s3a://BUCKET/KEY,
// abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY, file:/PATH, /PATH. It first translates the URI into a place of
// this program, and then checks the scope.
func (s *Scope) ResolveURI(uri string) (string, error) {
	if rest, isFile := strings.CutPrefix(uri, "file:"); isFile || strings.HasPrefix(uri, "/") {
		return s.resolveEncodedPath(strings.TrimPrefix(rest, "//localhost/"))
	}
	scheme, rest, ok := strings.Cut(uri, "://")
	if ok && (scheme == "http" || scheme == "https") { // a web address stays encoded; its server decodes it
		return s.Resolve(uri)
	}
	storeScheme := storeSchemes[strings.ToLower(scheme)]
	if !ok || storeScheme == "" {
		return "", stream.Dataf(s.file, "it names %s, which is in a store of an unknown kind", DisplayName(uri))
	}
	authority, key, _ := strings.Cut(rest, "/")
	container, host, hasHost := strings.Cut(authority, "@")
	location, err := store.Parse(storeScheme + "://" + container + "/" + key)
	if err == nil && len(location.ParameterNames()) == 0 {
		key, err = url.PathUnescape(location.Key)
		location = location.WithKey(key)
	}
	if err != nil {
		return "", stream.Dataf(s.file, "it names %s: %v", DisplayName(uri), err)
	}
	if storeScheme == "azblob" && hasHost {
		return s.resolveAccount(location, strings.ToLower(host))
	}
	return s.Resolve(location.String())
}

func (s *Scope) resolveEncodedPath(path string) (string, error) {
	name, err := s.Resolve(fileScheme + "/" + strings.TrimLeft(path, "/"))
	if err != nil {
		return "", err
	}
	return LocalPath(name)
}

// resolveAccount is Resolve for a location in an Azure storage account, whose host name is passed as host. It also
// checks the account, because other accounts may have containers of the same name.
func (s *Scope) resolveAccount(location store.Location, host string) (string, error) {
	account, domain, _ := strings.Cut(host, ".")
	query := "?storage_account=" + url.QueryEscape(account)
	public := domain == "dfs"+azureHost || domain == "blob"+azureHost
	if !public {
		query += "&domain=" + url.QueryEscape(strings.Replace(domain, "dfs.", "blob.", 1))
	}
	opened, refused := s.Resolve(location.WithoutParameters().String() + query)
	if refused == nil || !public {
		return opened, refused
	}
	opened, err := s.Resolve(location.String())
	if err != nil {
		return "", refused
	}
	if l, err := store.Parse(opened); err != nil || l.AzureAccount() != account {
		return "", refused
	}
	return opened, nil
}
