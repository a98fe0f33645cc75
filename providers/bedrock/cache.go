package bedrock

import (
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
)

// cache marks the ends of what the next request is likely to begin with: the
// tools (which only Claude keeps), the system prompt, and, where there are
// tools and so more turns to come, all that was said.
func (w *writer) cache() {
	if !w.config.Cache {
		return
	}
	point := types.CachePointBlock{Type: types.CachePointTypeDefault, Ttl: types.CacheTTL(w.config.CacheTTL)}
	in := w.in
	if len(w.req.Tools) > 0 && claude(w.base) {
		in.ToolConfig.Tools = append(in.ToolConfig.Tools, &types.ToolMemberCachePoint{Value: point})
	}
	if len(in.System) > 0 {
		in.System = append(in.System, &types.SystemContentBlockMemberCachePoint{Value: point})
	}
	if last := len(in.Messages) - 1; len(w.req.Tools) > 0 {
		in.Messages[last].Content = append(in.Messages[last].Content, &types.ContentBlockMemberCachePoint{Value: point})
	}
}
