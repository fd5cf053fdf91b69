// Runs the query on standard input and prints its columns and rows as JSON.
const { DuckDBInstance } = require(process.argv[1]);

async function main() {
  const query = require("fs").readFileSync(0, "utf8");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const out = { Columns: [], Rows: [] };
  try {
    const reader = await connection.runAndReadAll(query);
    out.Columns = reader.columnNames();
    out.Rows = reader.getRows().map((row) => row.map((v) => (v === null ? null : String(v))));
  } catch (e) {
    out.Error = String(e.message);
  }
  process.stdout.write(JSON.stringify(out));
}

main();
