"""What several test folders share: a fake store on a real socket and recorded replies."""
