// Package envfile reads dotenv files, which --env-file names.
package envfile
