//go:build linux

package mcptest_test

var webRows = []row{
	{mode: "web_good", want: called + "echoed"},
	{mode: "web_hang", limits: shortStart, want: absent},
	{mode: "web_hang_call", limits: shortCall, want: expired},
	{mode: "web_hang_delete", want: called + "echoed"},
	{mode: "web_400", want: failed + "400|Bad Request"},
	{mode: "web_401", want: failed + "401|Unauthorized"},
	{mode: "web_403", want: failed + "403|Forbidden"},
	{mode: "web_404", want: failed},
	{mode: "web_429", want: failed + "429|Too Many Requests"},
	{mode: "web_500", want: failed + "500|Internal Server Error"},
	{mode: "web_redirect", want: failed},
	{mode: "web_redirect_meta", want: failed},
	{mode: "web_redirect_loop", want: failed},
	{mode: "web_type", want: failed},
	{mode: "web_no_json", want: failed},
	{mode: "web_50mb", want: failed},
	{mode: "web_drop", want: failed},
	{mode: "web_sse_good", want: called + "by an event"},
	{mode: "web_sse_50mb", want: failed},
	{mode: "web_sse_comments", limits: shortCall, want: expired},
	{mode: "web_sse_slow", limits: shortCall, want: expired},
	{mode: "web_sse_empty", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},
	{mode: "web_sse_cut", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},
	{mode: "web_sse_garbage", limits: shortCall, want: "(?s)^run completed\ncall srv__echo (timeout|error): "},
	{mode: "web_sse_storm", want: called + "after the storm"},
	{mode: "web_session_lost", want: called + "in a new session"},
	{mode: "web_session_ever_lost", want: failed},
	{mode: "web_sse_resumes", want: called + "resumed"},
}
