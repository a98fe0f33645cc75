package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// sameOrigin rejects forms of other web pages.
var sameOrigin = http.NewCrossOriginProtection()

// The fields of the sign-in form. No parameter of an agent and no field of another form has
// such a name: the forms share a request when what was typed is sent after the sign-in.
const (
	signInField = "sign-in-"
	tokenField  = signInField + "token"
	nextField   = signInField + "next" // the page to show next
	sendField   = signInField + "send" // "1" = send the other fields to it
)

// signInData is the data of the sign-in page.
type signInData struct {
	Next   string
	Send   bool
	Fields []formField // what was typed into the form that needs a token
}

type formField struct{ Name, Value string }

// signInOf returns the sign-in page for a request without a valid token: it leads back to the
// page, and sends the form again.
func signInOf(r *http.Request) *signInData {
	d := &signInData{Next: "/"}
	switch {
	case r.Method == http.MethodGet && IsPage(r):
		q := r.URL.Query()
		q.Del("have") // an update of a page
		d.Next = (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).RequestURI()
	case IsUpload(r): // the browser does not send files again
		d.Next = r.URL.EscapedPath()
	case r.Method != http.MethodPost || sameOrigin.Check(r) != nil || r.ParseForm() != nil:
	case r.URL.Path == loginPath:
		d.Next, d.Send = localPage(r.PostForm.Get(nextField)), r.PostForm.Get(sendField) != ""
	case IsPage(r) && r.URL.Path != logoutPath:
		d.Next, d.Send = r.URL.EscapedPath(), true
	}
	if !d.Send {
		return d
	}
	for name, values := range r.PostForm {
		for _, value := range values {
			if !strings.HasPrefix(name, signInField) {
				d.Fields = append(d.Fields, formField{name, value})
			}
		}
	}
	slices.SortStableFunc(d.Fields, func(a, b formField) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// localPage returns the path of one of our pages, or "/".
func localPage(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, "\\") || !isPagePath(u.Path) {
		return "/"
	}
	return u.RequestURI()
}

// signIn stores the token of a browser in a cookie. Whether the token is valid shows on the
// next page.
func (u *UI) signIn(w http.ResponseWriter, r *http.Request) {
	if err := sameOrigin.Check(r); err != nil {
		problem.Write(w, r, problem.New(problem.Forbidden, "another web page sent this form"))
		return
	}
	token := strings.TrimSpace(r.PostFormValue(tokenField))
	if token == "" {
		problem.Write(w, r, problem.New(problem.Unauthorized, "enter a token"))
		return
	}
	http.SetCookie(w, u.cookie(token, 0))
	status := http.StatusSeeOther
	if r.PostForm.Get(sendField) != "" {
		status = http.StatusTemporaryRedirect // the browser sends the same fields to the next page
	}
	http.Redirect(w, r, localPage(r.PostForm.Get(nextField)), status)
}

func (u *UI) signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, u.cookie("", -1))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (u *UI) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: auth.Cookie, Value: token, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: u.o.Secure, SameSite: http.SameSiteLaxMode}
}
