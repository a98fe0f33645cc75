package web

import (
	"net/http"
	"strings"

	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// sameOrigin rejects forms of other web pages.
var sameOrigin = http.NewCrossOriginProtection()

// signIn stores the token of a browser in a cookie. Whether the token is valid shows on the
// next page.
func (u *UI) signIn(w http.ResponseWriter, r *http.Request) {
	if err := sameOrigin.Check(r); err != nil {
		problem.Write(w, r, problem.New(problem.Forbidden, "another web page sent this form"))
		return
	}
	token := strings.TrimSpace(r.PostFormValue("token"))
	if token == "" {
		problem.Write(w, r, problem.New(problem.Unauthorized, "enter a token"))
		return
	}
	http.SetCookie(w, u.cookie(token, 0))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (u *UI) signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, u.cookie("", -1))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (u *UI) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: auth.Cookie, Value: token, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: u.o.Secure, SameSite: http.SameSiteLaxMode}
}
