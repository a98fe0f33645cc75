package serverspec

import (
	"net/url"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

var (
	issuerForm = text.Regexp(language.IssuerPattern)
	claimForm  = text.Regexp(language.ClaimPattern)
)

// wellKnown is where issuers have their discovery document.
const wellKnown = "/.well-known/openid-configuration"

// oidc checks the issuer of tokens and the names of claims.
func (b *compiler) oidc(k *language.OIDCKeys) {
	if k == nil {
		return
	}
	b.config.Auth.OIDC = &OIDC{
		Issuer: k.Issuer, Audience: k.Audience, Subject: k.Subject, Tenant: k.Tenant, Roles: k.Roles, Known: withRoles(b.roles),
	}
	section := b.tree.Get("auth").Get("oidc")
	if v := section.Get("issuer"); v != nil && v.Kind == syntax.Text {
		if hint := issuerHint(k.Issuer); hint != "" {
			b.Report.Error(diag.NotAllowed, v.Position, "invalid issuer %s for auth.oidc.issuer", syntax.Quote(k.Issuer)).Hint = hint
		}
	}
	if v := section.Get("audience"); v != nil && v.Kind == syntax.Text && strings.TrimSpace(k.Audience) == "" {
		b.Report.Error(diag.NotAllowed, v.Position, "auth.oidc.audience is empty").Hint = "write the value of the claim aud in tokens for this server"
	}
	for _, c := range [][2]string{{"subject", k.Subject}, {"tenant", k.Tenant}, {"roles", k.Roles}} {
		key, claim := c[0], c[1]
		v := section.Get(key)
		if v == nil || v.Kind != syntax.Text || claimForm().MatchString(claim) {
			continue
		}
		d := b.Report.Error(diag.NotAllowed, v.Position, "invalid claim %s for auth.oidc.%s", syntax.Quote(claim), key)
		d.Hint = "write the name of a claim, such as groups, or of a nested one, such as realm_access.roles"
		if name := strings.TrimPrefix(claim, "$."); name != claim && claimForm().MatchString(name) {
			d.Hint = "write the name without $.: " + name
		}
	}
}

// issuerHint returns how to write the URL of an issuer, or "" if it is valid.
func issuerHint(s string) string {
	const form = "write the URL of the issuer, as in the claim iss of its tokens, such as https://id.example.com"
	u, err := url.Parse(s)
	switch {
	case err == nil && u.Scheme == "" && s != "" && !strings.HasPrefix(s, "/") && issuerForm().MatchString("https://"+s):
		return "add the scheme: https://" + s
	case err != nil || !issuerForm().MatchString(s) || u.Hostname() == "":
		return form
	case strings.HasSuffix(s, wellKnown):
		return "write the issuer without " + wellKnown + ": " + strings.TrimSuffix(s, wellKnown)
	case u.Scheme == "http" && !IsLoopback(u.Hostname()):
		return "use https; http is valid only for a loopback address"
	}
	return ""
}
