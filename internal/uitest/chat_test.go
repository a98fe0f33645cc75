//go:build e2e

package uitest_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/browsertest"
)

// A person chats: the answer of the first turn appears without a reload, after an approval in the chat; the second turn is in
// the same conversation. Texts stay texts.
func TestAChatInTheBrowser(t *testing.T) {
	s := serve(t, map[string]string{"desk/spec.yaml": strings.Replace(desk, "memory: {backend: none}\n", "", 1)})
	b := browsertest.Open(t, s.url("/"), 1280, 900)
	b.Visit(s.url("/agents/desk"))
	b.Click(`a[href="/chat/desk"]`)
	b.Type(`textarea[name=text]`, "What is 2 + 2? <img src=x onerror=alert(1)>")
	b.Click(`#message .primary`)
	b.Await(`location.search.startsWith("?c=c-") && !!document.querySelector("button[value=approve]") && document.querySelectorAll(".plan li").length === 1`)
	shootAll(t, b, "chat-waiting")
	b.Click(`button[value=approve]`)
	b.Await(`document.querySelector(".turn .answer")?.textContent.includes("The sum is 4.")`)
	b.Await(`document.querySelectorAll("button[value=approve]").length === 0 && document.querySelector("#message label").textContent.includes("Question")`)
	b.Await(`document.getElementById("stream").hidden`)
	b.Type(`textarea[name=text]`, "And again?")
	b.Click(`#message .primary`)
	b.Await(`document.querySelectorAll(".turn").length === 2 && !!document.querySelector("button[value=approve]")`)
	b.Click(`button[value=deny]`)
	b.Await(`document.querySelectorAll(".turn .answer").length === 2`)
	shootAll(t, b, "chat")
	if said := strings.Join(b.Texts(`.said`), " "); !strings.Contains(said, "<img src=x") || !strings.Contains(said, "And again?") {
		t.Error(said)
	}
	b.Click(`.head .button`)
	b.Await(`location.search === "" && !!document.querySelector('nav[aria-label="Other conversations"] a')`)

	// The conversation is found, continued and deleted.
	b.Visit(s.url("/conversations"))
	b.Type(`input[name=q]`, "sum is 4\n")
	b.Await(`location.search === "?q=sum+is+4" && document.querySelectorAll(".rows .question a").length === 1`)
	b.Click(`.rows .question a`)
	b.Await(`location.pathname.startsWith("/conversations/c-") && document.querySelectorAll(".turn").length === 2`)
	shootAll(t, b, "conversation")
	b.Click(`.bar .danger`)
	b.Await(`location.pathname.endsWith("/delete")`)
	b.Click(`button[name=confirm]`)
	b.Await(`location.pathname === "/conversations" && document.querySelectorAll(".rows .question a").length === 0`)
}
