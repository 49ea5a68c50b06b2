"""Report: a document as Markdown, HTML, PDF or DOCX. It knows neither runs nor the database."""
