package evidence

import _ "embed" // the schema is a file, so that editors can use it too

//go:embed run.schema.json
var schema string

// Schema is the JSON Schema (draft-07) of run.json. Fields may be added to it
// without a new SchemaVersion.
func Schema() []byte { return []byte(schema) }
