// Answers statements with DuckDB until standard input ends: each line there is a JSON text of SQL, or {"Dir": …}, which
// begins anew in another folder, with an empty database. An answer is
// lines of JSON: the columns, the rows in batches, every value as text, and {}; {"Error": …} ends one that fails.
const { DuckDBInstance } = require(process.argv[1]);
const { once } = require("events");

async function say(answer) {
  if (!process.stdout.write(JSON.stringify(answer) + "\n")) await once(process.stdout, "drain");
}

async function main() {
  const connect = async () => (await DuckDBInstance.create(":memory:")).connect();
  let connection = await connect();
  for await (const line of require("readline").createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    try {
      const statements = JSON.parse(line);
      if (statements.Dir !== undefined) {
        process.chdir(statements.Dir);
        connection.closeSync();
        connection = await connect();
        await say({});
        continue;
      }
      const result = await connection.stream(statements);
      await say({ Columns: result.columnNames() });
      for await (const rows of result.yieldRows()) {
        await say({ Rows: rows.map((row) => row.map((v) => (v === null ? null : String(v)))) });
      }
      await say({});
    } catch (e) {
      await say({ Error: String(e.message) || "it does not say why" });
    }
  }
}

main();
