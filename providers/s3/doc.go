// Package s3 stores blobs in a bucket of Amazon S3, or of another server with its API.
//
//	s3://bucket/prefix?region=eu-central-1              -> https://bucket.s3.eu-central-1.amazonaws.com/prefix/ab/abcdef...
//	s3://bucket/prefix?endpoint=https://storage:9000    -> https://storage:9000/bucket/prefix/ab/abcdef...
//
// It needs the permissions s3:PutObject and s3:GetObject. Old blobs are deleted by a lifecycle rule of the bucket: S3
// cannot delete an object only if no one stored it again meanwhile. Requests are made with net/http and signed by the
// Signer that the caller passes, so the package does not depend on AWS's libraries.
package s3
