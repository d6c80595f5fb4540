package reports

import _ "embed" // the schema is a file, so that editors can use it too

//go:embed summary.schema.json
var schema string

// Schema is the JSON Schema (draft-07) of summary.json. Fields may be added to
// it without a new SchemaVersion.
func Schema() []byte { return []byte(schema) }
