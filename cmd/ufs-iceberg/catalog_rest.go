package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/stream"
)

// catalogTransport sends requests only to the catalog servers that the user named. It is needed because the library
// signs each request again, even if a redirect or the catalog's configuration sends it to another server.
type catalogTransport struct {
	http.RoundTripper
	servers []*url.URL
	signs   bool // requests may be signed with AWS credentials
}

func openREST(ctx context.Context, props iceberg.Properties) (catalog.Catalog, error) {
	t := &catalogTransport{signs: strings.EqualFold(props["rest.sigv4-enabled"], "true")}
	options := []rest.Option{
		rest.WithCustomTransport(t), rest.WithAdditionalProps(props), rest.WithWarehouseLocation(props["warehouse"]), rest.WithPrefix(props["prefix"]),
		rest.WithOAuthToken(props["token"]), rest.WithCredential(props["credential"]),
		rest.WithScope(props["scope"]), rest.WithAudience(props["audience"]), rest.WithResource(props["resource"]),
	}
	if t.signs {
		options = append(options, rest.WithSigV4RegionSvc(props["rest.signing-region"], props["rest.signing-name"]))
	}
	tokens := cmp.Or(props["oauth2-server-uri"], props["rest.authorization-url"])
	for _, address := range []string{props["uri"], tokens} {
		server, err := url.Parse(address)
		if err != nil || address != "" && server.Host == "" {
			return nil, stream.Usagef("the address of the catalog, or of the server of its tokens, is not https://HOST/PATH")
		}
		if address != "" {
			t.servers = append(t.servers, server)
		}
		if address == tokens && address != "" {
			options = append(options, rest.WithAuthURI(server))
		}
	}
	own := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if strings.EqualFold(props["rest.tls.skip-verify"], "true") {
		own.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user said so
	}
	t.RoundTripper = own
	return rest.NewCatalog(ctx, "", props["uri"], options...)
}

// RoundTrip implements http.RoundTripper.
func (t *catalogTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") && !t.signs {
		e := stream.Dataf(t.servers[0].Host, "this catalog wants requests that are signed with the credentials of AWS")
		e.Remedy = stream.Textf("if you trust it, add {property} rest.sigv4-enabled=true")
		return nil, e
	}
	for _, server := range t.servers {
		if server.Scheme == r.URL.Scheme && strings.EqualFold(server.Host, r.URL.Host) {
			return t.RoundTripper.RoundTrip(r)
		}
	}
	e := stream.Dataf(t.servers[0].Host, "this catalog sends us to %s, which would get the credentials for it", r.URL.Host)
	e.Remedy = stream.Textf("if you trust that server, give it as {uri}, or for tokens as {property} %s", shell.Quote("oauth2-server-uri="+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path))
	return nil, e
}
