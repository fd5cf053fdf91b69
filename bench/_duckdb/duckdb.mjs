#!/usr/bin/env node
// DuckDB of the npm package @duckdb/node-api, for `bench speed --duckdb`, where DuckDB's own
// program is not at hand. It runs the statements that are its last argument and prints the rows of
// the last one, as duckdb -csv -noheader -c does. Of the ways to run them, run takes all threads;
// runAndReadAll leaves one idle (twice the wall time on two).
import { DuckDBInstance } from '@duckdb/node-api';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const result = await connection.run(process.argv.at(-1));
for (const row of await result.getRows()) console.log(row.join(','));
